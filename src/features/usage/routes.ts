import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import type { Gate } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import { UsageResponse } from './model.ts'
import type { Usage } from './service.ts'

/** GET /console/usage: the calls and tokens of the tenant. */
export const usageRoutes = (gate: Gate, usage: Usage, answers: JsonAnswers) =>
  new Elysia()
    .use(gate)
    .get(
      '/usage',
      (context) => answers.respond(context, () => usage.report(context.principal.tenantId)),
      {
        allow: MANAGERS,
        detail: {
          summary: 'Calls and tokens, in all and of the last seven days',
          responses: jsonDoc(UsageResponse),
        },
      },
    )
