import { sessionId } from '../../core/fields.ts'
import type { Gated } from '../../http/gate.ts'
import { answerDoc, EVENTS_CONTENT, queryDoc } from '../../http/openapi-parts.ts'
import { clientOf, type Sse, type StreamFormat } from '../../http/sse.ts'
import type { Conversations } from '../sessions/conversations.ts'
import type { Detached } from './detached.ts'
import { ConversationDetail, TurnDeleteResponse, TurnStopResponse } from './detached-model.ts'
import { isLast, type Told } from './told.ts'

export interface DetachedRouteOptions {
  readonly detached: Detached
  readonly conversations: Pick<Conversations, 'read'>
  readonly sse: Sse
}

/** Events with their numbers, from which a reader goes on. */
export const TOLD_STREAM: StreamFormat<Told> = {
  frame: ({ id, type, data }) =>
    id === 0 ? `event: ${type}\ndata: ${data}\n\n` : `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`,
  isLast: ({ type }) => isLast(type),
  // No event of the turn, which may go on: it has no number.
  onStop: (reason) => ({
    id: 0,
    type: 'error',
    data: JSON.stringify({ type: 'error', ...reason }),
  }),
}

const AFTER_QUERY = queryDoc({
  after: 'events after this number; the header Last-Event-ID counts before it',
})

/** Turns at the console that go on when their reader leaves. */
export const detachedRoutes = (on: Gated, { detached, conversations, sse }: DetachedRouteOptions) =>
  on
    .get(
      '/agent/turns/:id/events',
      async ({ principal, params, request, server, set }) => {
        const produce = await detached.read(principal, params.id, afterOf(request))
        return sse.respond(produce, TOLD_STREAM, set, clientOf(principal, request, server))
      },
      {
        allow: ['session'],
        detail: {
          summary: 'What a detached turn has told, and goes on to tell',
          parameters: AFTER_QUERY,
          responses: answerDoc('Server-Sent Events, as of the turn itself', EVENTS_CONTENT),
        },
      },
    )
    .post('/agent/turns/:id/stop', ({ principal, params }) => detached.stop(principal, params.id), {
      allow: ['session'],
      parse: 'none',
      response: TurnStopResponse,
      detail: { summary: 'Stop a detached turn and keep what was written' },
    })
    .delete('/agent/turns/:id', ({ principal, params }) => detached.drop(principal, params.id), {
      allow: ['session'],
      response: TurnDeleteResponse,
      detail: { summary: 'Drop an interrupted turn' },
    })
    .get(
      '/conversations/:id',
      async ({ principal, params }) => {
        const id = sessionId(params.id)
        const conversation = await conversations.read(principal, id)
        return { ...conversation, pending: await detached.pending(principal, id) }
      },
      {
        allow: ['session'],
        response: ConversationDetail,
        detail: { summary: 'Read a conversation and its turns that have not ended' },
      },
    )

/** Zero for what is no number. */
function afterOf({ headers, url }: Request): number {
  const given = headers.get('last-event-id') ?? new URL(url).searchParams.get('after') ?? ''
  return /^\d{1,15}$/.test(given) ? Number(given) : 0
}
