import { Elysia } from 'elysia'
import type { ErrorCode } from '../../core/errors.ts'
import { SHARE_TURNS_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { charCount } from '../../core/text.ts'
import type { Agent } from '../../features/agent/service.ts'
import type { Feedback } from '../../features/feedback/service.ts'
import type { Shares } from '../../features/shares/service.ts'
import { jsonBody } from '../../http/body.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { answerDoc, EVENTS_CONTENT } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import { visitorFeedback } from './feedback-routes.ts'
import { createOriginCheck } from './origin-check.ts'
import { visitorPages } from './page-routes.ts'
import { createView, type VisitorEvent } from './view.ts'
import { budgetOf, sessionOf, VisitorTurn, visitorOf } from './visitor.ts'

export interface VisitorParts {
  readonly services: {
    readonly shares: Pick<Shares, 'open' | 'takeTurn'>
    readonly agent: Agent
    readonly feedback: Pick<Feedback, 'give'>
  }
  readonly contexts: RequestContexts
  readonly auth: { readonly origins: Origins; readonly addressLimit: AddressLimit }
  readonly sse: Sse
  /** The chat page with places for the name and the look, and the script of the widget. */
  readonly pages: { readonly share: string | null; readonly widget: string | null }
}

const TURN_DOC = answerDoc(
  'Server-Sent Events; the data of each is JSON with its type field: sources (titles of the ' +
    'documents that the answer draws on), passages (the texts that the ' +
    'answer cites, each with its number: `[1]` has 1; whenever it cites one more), ' +
    'llm_delta (text), restart (the text so far is void), ' +
    'then llm_end (reply, the whole answer, and seq, its number in the session) or error ' +
    '(message and code). At most 10 a minute from one address ' +
    'and as many a day as the share allows: 429 with Retry-After.',
  EVENTS_CONTENT,
)

const turnBody = jsonBody(VisitorTurn, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })

/**
 * Everything that the token of a share gives access to: the chat page, the script that embeds it in
 * a site, and turns of that one app. No route returns earlier turns: a visitor's history stays in
 * the browser.
 */
export function visitorRoutes(parts: VisitorParts) {
  const { services, auth, sse, contexts } = parts
  const { shares, agent } = services
  const { origins, addressLimit } = auth
  const allowOrigin = createOriginCheck(origins)
  const limit = addressLimit('share', SHARE_TURNS_PER_MINUTE_MAX)

  return new Elysia({ name: 'visitors' })
    .use(visitorPages(parts))
    .use(visitorFeedback(parts))
    .post(
      '/s/:token',
      async ({ params, request, server, set }) => {
        const share = await shares.open(params.token)
        allowOrigin(request, share, set.headers)
        set.headers['cache-control'] = 'no-store'
        await limit({ request, server, set })
        const { text, session_id } = await turnBody.read(request)
        const visitor = visitorOf(share)
        const sessionId = sessionOf(share, session_id)
        contexts.note(request, { principal: visitor, sessionId, textChars: charCount(text) })
        const budget = budgetOf(share)
        const door = 'share' as const
        const turnRequest = { text, images: [], kb: true, budget, door, show_passages: true }
        const turn = await shares.takeTurn(share, () =>
          agent.openTurn(visitor, turnRequest, sessionId),
        )
        contexts.note(request, { channel: turn.channel })
        const visibleTo = createView()
        const response = sse.respond<VisitorEvent>(
          (signal, emit) =>
            turn.run(signal, (events) => {
              const visible = events.flatMap(visibleTo)
              return visible.length > 0 ? emit(visible) : undefined
            }),
          VISITOR_STREAM,
          set,
          clientOf(visitor, request, server),
        )
        contexts.noteTurn(request, turn)
        return response
      },
      {
        parse: 'none',
        detail: {
          summary: 'Ask an app as a visitor of its share',
          tags: ['shares'],
          requestBody: turnBody.doc,
          responses: TURN_DOC,
        },
      },
    )
}

/** How these events are streamed, for http/sse.ts. */
const VISITOR_STREAM = {
  frame: (event: VisitorEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  isLast: ({ type }: VisitorEvent) => type === 'llm_end' || type === 'error',
  onStop: (reason: { readonly message: string; readonly code: ErrorCode }): VisitorEvent => ({
    type: 'error',
    ...reason,
  }),
}
