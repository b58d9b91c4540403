import { Elysia } from 'elysia'
import type { Meters } from '../core/meters.ts'
import type { Facts } from './request-context.ts'
import { elapsedMs, statusOf } from './response-info.ts'
import { routeLabel } from './route-table.ts'

/** Methods beyond these are one label, or a client could make up as many as it likes. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])

/** Counts every answered request by the pattern of its route, never by its path. */
export const measure = (facts: Facts, steady: () => number, meters: Meters) =>
  new Elysia({ name: 'measure' }).onAfterResponse({ as: 'global' }, ({ request, route, set }) => {
    const status = statusOf(set)
    const method = METHODS.has(request.method) ? request.method : 'other'
    const seconds = elapsedMs(facts.of(request), steady()) / 1000
    meters.request(method, status === 404 ? routeLabel('') : routeLabel(route), status, seconds)
  })
