import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import type { Gate } from '../../http/gate.ts'
import { UsageResponse } from './model.ts'
import type { Usage } from './service.ts'

/** GET /console/usage: the calls of the tenant. */
export const usageRoutes = (gate: Gate, usage: Usage) =>
  new Elysia().use(gate).get('/usage', ({ principal }) => usage.report(principal.tenantId), {
    allow: MANAGERS,
    response: UsageResponse,
    detail: { summary: 'Calls in all and of the last seven days' },
  })
