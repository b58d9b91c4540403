import type { Clock } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { sessionId } from '../../core/fields.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, MANAGERS, type Principal } from '../../core/principal.ts'
import { namedSubject, SUBJECT_HEADER } from '../../core/subject.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { headerDoc } from '../../http/openapi-parts.ts'
import { type PersonLimit, withoutIdleTimeout } from '../../http/request-limits.ts'
import { checkRole } from '../../http/roles.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import type { Apps } from '../apps/service.ts'
import type { Pictures } from '../files/pictures.ts'
import { createAgentCheck } from './check.ts'
import type { Detached } from './detached.ts'
import { TOLD_STREAM } from './detached-routes.ts'
import type { AgentEvent } from './events.ts'
import { AgentCheckResponse, AgentRequest, StudioRequest } from './model.ts'
import type { Agent } from './service.ts'
import { temporaryTurn } from './temporary.ts'
import { isLast, wireOf } from './told.ts'

export interface AgentRouteOptions {
  readonly agent: Agent
  readonly sse: Sse
  readonly contexts: RequestContexts
}

/** What a turn is asked with, for those who ask for one later. */
export const TURN_BODY = AgentRequest

const body = jsonBody(AgentRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/** How these events are streamed, for http/sse.ts. */
const AGENT_STREAM = {
  frame: (event: AgentEvent) => `event: ${event.type}\ndata: ${JSON.stringify(wireOf(event))}\n\n`,
  isLast: ({ type }: AgentEvent) => isLast(type),
  onStop: (reason: { readonly message: string; readonly code: ErrorCode }): AgentEvent => ({
    type: 'error',
    ...reason,
  }),
}

/** The answer of a turn. */
const TURN_DOC = {
  200: {
    description:
      'Server-Sent Events; the data of each is JSON with its type field. The stats event says in ' +
      'kb what was searched, or "skipped" when the turn went on without its passages because ' +
      'retrieval failed or was late; without a search it has no field kb. Its input_tokens and ' +
      'output_tokens are sums over the model calls; usage_estimated says that a call did not ' +
      'tell its own.',
    content: { 'text/event-stream': { schema: { type: 'string' as const } } },
  },
}

/** POST /v1/agent: one turn as an event stream. */
export const agentRoutes = (on: Gated, { agent, sse, contexts }: AgentRouteOptions) =>
  on.post(
    '/agent',
    async ({ principal, request, upload, server, set }) => {
      const asks = await body.read(request, upload)
      const subject = namedSubject(principal, asks.subject, request.headers)
      const input = { ...asks, subject }
      const turn = await agent.openTurn(principal, input, sessionId(input.session_id))
      // For the log row of a turn that never begins; `noteTurn` replaces it when the turn begins.
      const { channel } = turn
      const textChars = charCount(input.text)
      contexts.note(request, { sessionId: turn.sessionId, textChars, channel })
      const response = sse.respond(
        turn.run,
        AGENT_STREAM,
        set,
        clientOf(principal, request, server),
      )
      contexts.noteTurn(request, turn)
      return response
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'One turn of a conversation',
        parameters: headerDoc({
          [SUBJECT_HEADER]: 'Whom the caller speaks for, as `subject` in the body',
        }),
        requestBody: body.doc,
        responses: TURN_DOC,
      },
    },
  )

export interface StudioRouteOptions {
  readonly agent: Agent
  readonly apps: Pick<Apps, 'read'>
  readonly detached: Pick<Detached, 'begin' | 'once'>
  readonly pictures: Pick<Pictures, 'of'>
  readonly sse: Sse
  /** Throws `rate_limited` for a person with too many turns a minute. */
  readonly studioLimit: PersonLimit
}

export type AgentCheckRouteOptions = Pick<StudioRouteOptions, 'agent' | 'sse' | 'studioLimit'> & {
  readonly clock: Pick<Clock, 'steady'>
}

const studioBody = jsonBody(StudioRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/** What is asked, as the agent is asked it. Throws `rate_limited`, 403 and 404. */
async function askedBy(
  { apps, pictures, studioLimit }: Pick<StudioRouteOptions, 'apps' | 'pictures' | 'studioLimit'>,
  principal: Principal,
  { app_id: appId, detached: _, turn_id: __, temporary, ...asks }: StudioRequest,
) {
  await studioLimit(principal)
  const session = sessionId(asks.session_id)
  if (appId) await apps.read(principal.tenantId, appId)
  // A draft chooses tools, which viewers may not do, nor may they choose what a turn costs.
  if (asks.draft || asks.model) checkRole(principal.role, 'editor')
  const asked = { ...principal, appId: appId || null }
  // A person is the subject, whatever the body names.
  const own = { ...asks, subject: undefined, door: 'console' as const, explains: true }
  const input = temporary
    ? { ...own, ...temporaryTurn(asks, temporary), replace_last: false }
    : { ...own, pictures: await pictures.of(asked, session, asks.images) }
  return { asked, input, session }
}

/**
 * POST /console/agent: a person tries the agent; with `app_id` the turn runs as one of that app's
 * key. It is no machine call, so it counts no usage and writes no log row.
 */
export const studioRoutes = (
  on: Gated,
  { agent, detached: talks, sse, ...parts }: StudioRouteOptions,
) =>
  on.post(
    '/agent',
    async ({ principal, request, upload, server, set }) => {
      const asks = await studioBody.read(request, upload)
      const client = clientOf(principal, request, server)
      const { temporary, detached, turn_id: name } = asks
      if (detached && !temporary) {
        const begin = async () => {
          const { asked, input, session } = await askedBy(parts, principal, asks)
          return talks.begin(asked, input, session, name)
        }
        const produce = await (name === null ? begin() : talks.once(principal, name, begin))
        return sse.respond(produce, TOLD_STREAM, set, client)
      }
      const { asked, input, session } = await askedBy(parts, principal, asks)
      const turn = await agent.openTurn(asked, input, temporary ? null : session)
      return sse.respond(turn.run, AGENT_STREAM, set, client)
    },
    {
      allow: MANAGERS,
      parse: 'none',
      detail: {
        summary: 'Try the agent, as an app would answer when app_id is given',
        requestBody: studioBody.doc,
        responses: TURN_DOC,
      },
    },
  )

/** POST /console/agent/check: whether the tenant's channel answers. */
export const agentCheckRoutes = (
  on: Gated,
  { agent, clock, sse, studioLimit }: AgentCheckRouteOptions,
) => {
  const check = createAgentCheck(agent, clock)
  return on.post(
    '/agent/check',
    async ({ principal, request, server }) => {
      await studioLimit(principal)
      const client = clientOf(principal, request, server)
      return withoutIdleTimeout(request, server, () =>
        sse.whole(client, (signal) => check(principal, signal)),
      )
    },
    {
      allow: MANAGERS,
      parse: 'none',
      response: AgentCheckResponse,
      detail: { summary: 'Whether the model of the tenant answers; nothing is stored' },
    },
  )
}
