import { Elysia } from 'elysia'
import type { Logger } from '../core/log.ts'
import type { Facts } from './request-context.ts'
import { elapsedMs, statusOf } from './response-info.ts'
import { routeLabel } from './route-table.ts'

/**
 * One line for each answered request, at level debug: route, status and time, never what was said,
 * and no path, for that can hold a session's name.
 */
export const accessLog = (facts: Facts, steady: () => number, log: Logger) =>
  new Elysia({ name: 'access-log' }).onAfterResponse(
    { as: 'global' },
    ({ request, route, set }) => {
      const known = facts.of(request)
      log.debug('request', {
        id: known?.requestId,
        method: request.method.slice(0, 10),
        route: routeLabel(route).slice(0, 100),
        status: statusOf(set),
        ms: Math.round(elapsedMs(known, steady())),
        tenant: known?.principal?.tenantId,
        key: known?.principal?.keyId ?? undefined,
        error: known?.errorClass ?? undefined,
      })
    },
  )
