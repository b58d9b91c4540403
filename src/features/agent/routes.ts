import { Elysia } from 'elysia'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { sessionId } from '../../core/session-id.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { STREAM_DOC } from '../../http/openapi-parts.ts'
import type { RequestContexts } from '../../http/request-context.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import { AGENT_STREAM } from './events.ts'
import { AgentRequest } from './model.ts'
import type { Agent } from './service.ts'

export interface AgentRouteOptions {
  readonly agent: Agent
  readonly sse: Sse
  readonly contexts: RequestContexts
}

const body = jsonBody(AgentRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/** POST /v1/agent: one turn as an event stream. */
export const agentRoutes = (gate: Gate, { agent, sse, contexts }: AgentRouteOptions) =>
  new Elysia().use(gate).post(
    '/agent',
    async ({ principal, request, upload, server, set }) => {
      const input = await body.read(request, upload)
      const turn = await agent.prepare(principal, input, sessionId(input.session_id))
      contexts.note(request, {
        sessionId: turn.sessionId,
        textChars: charCount(input.text),
        channel: turn.channel,
      })
      return sse.respond(turn.run, AGENT_STREAM, set, clientOf(principal, request, server))
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'One turn of a conversation',
        requestBody: body.doc,
        responses: STREAM_DOC,
      },
    },
  )
