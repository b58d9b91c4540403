import { type AnyElysia, Elysia } from 'elysia'
import type { Clock } from './core/clock.ts'
import { IDLE_SECONDS_MAX, SOCKET_MESSAGE_BYTES_MAX } from './core/limits/machine.ts'
import type { Logger } from './core/log.ts'
import type { Meters } from './core/meters.ts'
import { MESSAGE_ROUTES } from './doors/anthropic/door-routes.ts'
import { type MessageRouteOptions, messageRoutes } from './doors/anthropic/routes.ts'
import { type McpRouteOptions, mcpRoutes } from './doors/mcp/routes.ts'
import { OLLAMA_ROUTES } from './doors/ollama/door-routes.ts'
import { type OllamaRouteOptions, ollamaRoutes } from './doors/ollama/routes.ts'
import { completionRoutes } from './doors/openai/completion-routes.ts'
import { OPENAI_ROUTES } from './doors/openai/door-routes.ts'
import { modelRoutes } from './doors/openai/model-routes.ts'
import { type ResponseRouteOptions, responseRoutes } from './doors/openai/response-routes.ts'
import { speechRoutes } from './doors/openai/speech-routes.ts'
import { transcriptionRoutes } from './doors/openai/transcription-routes.ts'
import { visitorRoutes } from './doors/visitors/routes.ts'
import { type BoardsConsoleOptions, boardsConsoleRoutes } from './doors/xiaozhi/console-routes.ts'
import { type XiaozhiRouteOptions, xiaozhiRoutes } from './doors/xiaozhi/routes.ts'
import { type SocketRouteOptions, socketRoutes } from './doors/xiaozhi/socket-routes.ts'
import type { Detached } from './features/agent/detached.ts'
import { detachedRoutes } from './features/agent/detached-routes.ts'
import type { OpenTurns } from './features/agent/open-turns.ts'
import { agentCheckRoutes, agentRoutes, studioRoutes } from './features/agent/routes.ts'
import type { Agent } from './features/agent/service.ts'
import {
  activationRoutes,
  type DeviceEndpoints,
  heartbeatRoutes,
} from './features/devices/routes.ts'
import { embeddingsRoutes } from './features/embeddings/routes.ts'
import type { Embeddings } from './features/embeddings/service.ts'
import { type InvitationRouteParts, invitationRoutes } from './features/invitations/routes.ts'
import { type AuthParts, authRoutes } from './features/login/routes.ts'
import { mcpCallbackRoutes, mcpClientRoutes } from './features/mcp-servers/sign-in-routes.ts'
import { type MetricsPage, metricsRoutes, siteRoutes } from './features/site/routes.ts'
import type { Status } from './features/site/status.ts'
import { type HookParts, hookRoutes } from './features/triggers/routes.ts'
import type { ConsolePages } from './http/console-pages.ts'
import { joinedRoutes } from './http/door-routes.ts'
import { entry, findablePath } from './http/entry.ts'
import { createMethodsOf, errorHandler } from './http/errors.ts'
import { type Gate, gated } from './http/gate.ts'
import {
  type LoggedRequest,
  observe,
  type RecordEnd,
  type RequestContexts,
} from './http/observe.ts'
import { isThroughOllama, throughOllama } from './http/ollama-path.ts'
import { openApiRoutes } from './http/openapi.ts'
import type { PersonLimit, RequestMemory } from './http/request-limits.ts'
import type { Sse } from './http/sse.ts'
import { type ConsoleServices, consoleOnly, type SurfaceServices, surface } from './surface.ts'

/**
 * Each route checks the limit of its own body and answers with a sentence; Bun discards unread
 * bytes. Bun's own limit would answer without a body.
 */
const REQUEST_BYTES_MAX = Number.MAX_SAFE_INTEGER

export interface AppServices extends SurfaceServices, ConsoleServices {
  readonly agent: Agent
  readonly detached: Detached
  readonly embeddings: Embeddings
  readonly openTurns: OpenTurns
}

export interface AppOptions {
  readonly services: AppServices
  readonly machineGate: Gate
  readonly consoleGate: Gate
  readonly auth: AuthParts & InvitationRouteParts
  readonly deviceEndpoints: DeviceEndpoints
  readonly hooks: HookParts
  readonly chat: MessageRouteOptions & ResponseRouteOptions
  readonly clock: Pick<Clock, 'now' | 'steady'>
  readonly ollama: Pick<OllamaRouteOptions, 'embeddingsRequest' | 'contextOf'>
  readonly mcp: McpRouteOptions
  readonly xiaozhi: XiaozhiRouteOptions & SocketRouteOptions & BoardsConsoleOptions
  readonly status: Status
  /** Whether the database takes writes, for `/healthz`. */
  readonly takesWrites: () => boolean
  readonly metrics: { readonly meters: Meters; readonly page: MetricsPage | null }
  /** The console (http/console-pages.ts). */
  readonly pages: ConsolePages
  readonly contexts: RequestContexts
  readonly memory: Pick<RequestMemory, 'release'>
  readonly studioLimit: PersonLimit
  readonly sse: Sse
  readonly log: Logger
  /** Whether this server speaks https itself. */
  readonly tls: boolean
  /** Whether each request writes a line to the log. */
  readonly verbose: boolean
  readonly record: (request: LoggedRequest) => RecordEnd
}

/** What the doors say of their routes. */
export const DOOR_ROUTES = joinedRoutes([OPENAI_ROUTES, MESSAGE_ROUTES, OLLAMA_ROUTES])

/** The whole HTTP application without a port: all gates and routes. */
export function createApp(options: AppOptions): AnyElysia {
  const { services, machineGate, consoleGate, auth, status, takesWrites, metrics } = options
  const { contexts, memory, sse, log, tls, verbose, record, pages } = options
  const { chat, xiaozhi, clock } = options
  const { embeddings } = services
  const meters = metrics.page && metrics.meters
  const lines = verbose ? log : null
  const methodsOf = createMethodsOf(() => app.routes)
  const people = gated(consoleGate)
  invitationRoutes(people, auth)
  const app: AnyElysia = new Elysia({
    systemRouter: false,
    // Elysia searches for the path after 11 characters of the URL, or after 7. For http only 7 is
    // right for all hosts. For https 7 would find the scheme's own slashes, and 11 misses the path
    // after hosts of one or two letters, which `findablePath` makes longer.
    handler: { standardHostname: tls },
    websocket: { idleTimeout: IDLE_SECONDS_MAX, maxPayloadLength: SOCKET_MESSAGE_BYTES_MAX },
    serve: {
      idleTimeout: IDLE_SECONDS_MAX,
      maxRequestBodySize: REQUEST_BYTES_MAX,
      development: false,
    },
  })
    .use(entry(contexts))
    .use(errorHandler({ log, contexts, methodsOf, missing: pages.missing }))
    .use(
      observe({
        contexts,
        clock,
        record,
        meters,
        log: lines,
        doors: DOOR_ROUTES,
        release: memory.release,
      }),
    )
    .use(siteRoutes({ origins: auth.origins, status, takesWrites }))
    .use(mcpClientRoutes(auth.origins))
    .use(metricsRoutes(metrics.page))
    .use(pages.routes)
    .use(openApiRoutes(() => app))
    .use(surface('/v1', machineGate, contexts, services))
    .use(surface('/console', consoleGate, contexts, services))
    .use(authRoutes(people, auth, [mcpCallbackRoutes(services.mcpServers, auth)]))
    .use(hookRoutes(options.hooks))
    .use(visitorRoutes({ services, auth, sse, contexts, pages }))
    .use(new Elysia({ prefix: '/v1' }).use(activationRoutes(options.deviceEndpoints)))
    .use(machineDoors(options))
    .use(
      ollamaRoutes(machineGate, {
        chat,
        embeddings,
        embeddingsRequest: options.ollama.embeddingsRequest,
        contextOf: options.ollama.contextOf,
      }),
    )
    .use(xiaozhiRoutes(xiaozhi))
    .use(socketRoutes(xiaozhi))
    .use(consoleOnly(consoleGate, services, auth))
    .use(consoleDoors(options))
  app.wrap((handle) => (request: Request) => {
    const moved = isThroughOllama(request) ? request : throughOllama(request)
    return handle(tls ? findablePath(moved) : moved)
  })
  return app
}

/** The routes that only keys may call. */
function machineDoors(options: AppOptions): AnyElysia {
  const { services, machineGate, chat, contexts, sse } = options
  const { agent, answers, embeddings, openTurns } = services
  const { voice } = services.voice
  const on = gated(machineGate, '/v1')
  agentRoutes(on, { agent, sse, contexts })
  modelRoutes(on, chat)
  completionRoutes(on, chat)
  responseRoutes(on, chat)
  messageRoutes(on, chat)
  embeddingsRoutes(on, { embeddings, answers, contexts })
  speechRoutes(on, { voice, contexts, openTurns })
  transcriptionRoutes(on, { voice, contexts })
  heartbeatRoutes(on, options.deviceEndpoints)
  mcpRoutes(on, options.mcp)
  return on
}

/** The turns of people, and what of boards only they see. */
function consoleDoors(options: AppOptions): AnyElysia {
  const { services, consoleGate, clock, sse, studioLimit } = options
  const { agent, apps, conversations, detached, pictures } = services
  const on = gated(consoleGate, '/console')
  boardsConsoleRoutes(on, options.xiaozhi)
  studioRoutes(on, { agent, apps, detached, pictures, sse, studioLimit })
  detachedRoutes(on, { detached, conversations, sse })
  agentCheckRoutes(on, { agent, clock, sse, studioLimit })
  return on
}
