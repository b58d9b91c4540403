import { Elysia } from 'elysia'
import { clampedLimit, sessionId } from '../../core/fields.ts'
import { SESSIONS_LIMIT_DEFAULT, SESSIONS_LIMIT_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, MANAGERS } from '../../core/principal.ts'
import type { Gate } from '../../http/gate.ts'
import type { AnswerContext, JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { HistoryResponse, SessionDeleteResponse, SessionListResponse } from './model.ts'
import type { Sessions } from './service.ts'

const LIST_QUERY = queryDoc({
  limit: 'rows returned, 1 to 500; default 100',
  since: 'ISO 8601; only sessions active at or after it',
})

/** Session index, history and deletion, on both surfaces. */
export const sessionRoutes = (gate: Gate, sessions: Sessions, answers: JsonAnswers) => {
  const history = (context: AnswerContext, id: string) => {
    const session = sessionId(id)
    return answers.respond(context, () => sessions.history(context.principal.tenantId, session))
  }
  return (
    new Elysia()
      .use(gate)
      .get(
        '/sessions',
        ({ principal, request }) => {
          const query = new URL(request.url).searchParams
          const limit = clampedLimit(query.get('limit'), SESSIONS_LIMIT_DEFAULT, SESSIONS_LIMIT_MAX)
          return sessions.list(principal.tenantId, query.get('since') ?? '', limit)
        },
        {
          allow: MANAGERS,
          response: SessionListResponse,
          detail: { summary: 'List sessions, most recently active first', parameters: LIST_QUERY },
        },
      )
      .get('/sessions/:id/history', (context) => history(context, context.params.id), {
        allow: EVERYONE,
        detail: { summary: 'What a session remembers', responses: jsonDoc(HistoryResponse) },
      })
      .get('/sessions//history', (context) => history(context, ''), {
        allow: EVERYONE,
        detail: { hide: true },
      })
      // Also matches `/sessions/`: an empty id is the anonymous session.
      .delete(
        '/sessions/:id?',
        ({ principal, params }) => sessions.remove(principal.tenantId, sessionId(params.id)),
        {
          allow: MANAGERS,
          response: SessionDeleteResponse,
          detail: { summary: 'Forget a session' },
        },
      )
  )
}
