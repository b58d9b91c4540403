import { MANAGERS } from '../../core/principal.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { LogsResponse } from './model.ts'
import { parseLogQuery } from './query.ts'
import type { Logs } from './service.ts'

const FILTERS = queryDoc({
  limit: 'rows returned, 1 to 500; default 100',
  endpoint: 'a log label such as /v1/agent',
  status: 'a code such as 429 or a class such as 4xx',
  app_id: 'app of the key',
  device_id: 'device of the key',
  key_id: 'the key',
  session_id: 'session of an agent call',
  error_class: 'a word such as rate_limited',
  since: 'ISO 8601, inclusive',
  until: 'ISO 8601, inclusive',
})

/** The request log and its summary; the same on both surfaces. */
export const logRoutes = (on: Gated, logs: Logs) =>
  on.get(
    '/logs',
    ({ principal, request }) =>
      logs.list(
        principal.tenantId,
        parseLogQuery(new URL(request.url).searchParams),
        request.signal,
      ),
    {
      allow: MANAGERS,
      response: LogsResponse,
      detail: { summary: 'Request log and its summary', parameters: FILTERS },
    },
  )
