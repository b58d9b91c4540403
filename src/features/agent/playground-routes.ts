import { Elysia } from 'elysia'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { MANAGERS } from '../../core/principal.ts'
import { sessionId } from '../../core/session-id.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { STREAM_DOC } from '../../http/openapi-parts.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import type { Apps } from '../apps/service.ts'
import { AGENT_STREAM } from './events.ts'
import { PlaygroundRequest } from './model.ts'
import type { Agent } from './service.ts'

export interface PlaygroundRouteOptions {
  readonly agent: Agent
  readonly apps: Pick<Apps, 'read'>
  readonly sse: Sse
}

const body = jsonBody(PlaygroundRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/**
 * POST /console/agent: a person tries the agent, as an app's key would when `app_id` names one of
 * the tenant's. No machine call, so it counts no usage and writes no log row.
 */
export const playgroundRoutes = (gate: Gate, { agent, apps, sse }: PlaygroundRouteOptions) =>
  new Elysia().use(gate).post(
    '/agent',
    async ({ principal, request, upload, server, set }) => {
      const { app_id: appId, ...input } = await body.read(request, upload)
      const session = sessionId(input.session_id)
      if (appId) await apps.read(principal.tenantId, appId)
      const caller = { ...principal, appId: appId || null }
      const turn = await agent.prepare(caller, input, session)
      return sse.respond(turn.run, AGENT_STREAM, set, clientOf(principal, request, server))
    },
    {
      allow: MANAGERS,
      parse: 'none',
      detail: {
        summary: 'Try the agent, as an app would answer when app_id is given',
        requestBody: body.doc,
        responses: STREAM_DOC,
      },
    },
  )
