import { MANAGERS } from '../../core/principal.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { UsageResponse } from './model.ts'
import type { Usage } from './service.ts'

const APP_QUERY = queryDoc({ app_id: 'the app whose days `daily` has; none: of all' })

/** GET /console/usage: the calls and tokens of the tenant. */
export const usageRoutes = (on: Gated, usage: Usage, answers: JsonAnswers) =>
  on.get(
    '/usage',
    (context) => {
      const appId = new URL(context.request.url).searchParams.get('app_id')
      return answers.respond(context, () => usage.report(context.principal, appId))
    },
    {
      allow: MANAGERS,
      detail: {
        summary: 'Calls and tokens, in all and of the last seven days',
        parameters: APP_QUERY,
        responses: jsonDoc(UsageResponse),
      },
    },
  )
