import { type AnyElysia, Elysia } from 'elysia'
import { IDLE_SECONDS_MAX } from './core/limits/machine.ts'
import type { Logger } from './core/log.ts'
import type { Meters } from './core/meters.ts'
import { playgroundRoutes } from './features/agent/playground-routes.ts'
import { agentRoutes } from './features/agent/routes.ts'
import type { Agent } from './features/agent/service.ts'
import { type DeviceEndpoints, deviceEndpointRoutes } from './features/devices/endpoint-routes.ts'
import { type AuthParts, authRoutes } from './features/login/routes.ts'
import { type MetricsPage, metricsRoutes } from './features/site/metrics-routes.ts'
import { siteRoutes } from './features/site/routes.ts'
import type { Status } from './features/site/status.ts'
import { accessLog } from './http/access-log.ts'
import { type BodyRoom, bodyRoom } from './http/body-room.ts'
import type { ConsolePages } from './http/console-pages.ts'
import { edge } from './http/edge.ts'
import { errorHandler } from './http/errors.ts'
import type { Gate } from './http/gate.ts'
import { measure } from './http/metrics-hook.ts'
import { openApiRoutes } from './http/openapi.ts'
import type { Facts } from './http/request-context.ts'
import { type LoggedRequest, requestLog } from './http/request-log.ts'
import { createRouteTable } from './http/route-table.ts'
import type { Sse } from './http/sse.ts'
import { type ConsoleServices, consoleOnly, type SurfaceServices, surface } from './surface.ts'

/**
 * Each route checks its own limit, in its turn and with a sentence, and what is not read is dropped
 * as it comes: the server's own limit would answer with nothing at all.
 */
const REQUEST_BYTES_MAX = Number.MAX_SAFE_INTEGER

export interface AppServices extends SurfaceServices, ConsoleServices {
  readonly agent: Agent
}

export interface AppOptions {
  readonly services: AppServices
  readonly machineGate: Gate
  readonly consoleGate: Gate
  readonly auth: AuthParts
  readonly deviceEndpoints: DeviceEndpoints
  readonly status: Status
  readonly metrics: { readonly meters: Meters; readonly page: MetricsPage | null }
  /** The console (http/console-pages.ts). */
  readonly pages: ConsolePages
  readonly facts: Facts
  readonly room: BodyRoom
  readonly sse: Sse
  readonly log: Logger
  /** Whether this server speaks https itself. */
  readonly tls: boolean
  /** Whether every request is worth a line in the log. */
  readonly verbose: boolean
  /** Milliseconds that only go forward. */
  readonly steady: () => number
  readonly record: (request: LoggedRequest) => void
}

/** The whole HTTP application, without a port: every credential gate and route in one place. */
export function createApp(options: AppOptions): AnyElysia {
  const { services, machineGate, consoleGate, auth, status, metrics } = options
  const { facts, room, sse, log, tls, verbose, steady, record, pages } = options
  const table = createRouteTable()
  const app: AnyElysia = new Elysia({
    systemRouter: false,
    // The framework looks for the path after 11 characters of the address, else after 7. The first
    // would take a host name of up to three letters for a part of the path, the second the slashes
    // of https, where only names of up to two letters are left out so.
    handler: { standardHostname: tls },
    serve: {
      idleTimeout: IDLE_SECONDS_MAX,
      maxRequestBodySize: REQUEST_BYTES_MAX,
      development: false,
    },
  })
    .use(edge(facts))
    .use(errorHandler({ log, facts, methodsOf: table.methodsOf, missing: pages.missing }))
    .use(requestLog(facts, steady, record))
    .use(bodyRoom(room))
    .use(verbose ? accessLog(facts, steady, log) : new Elysia())
    .use(metrics.page ? measure(facts, steady, metrics.meters) : new Elysia())
    .use(siteRoutes({ origins: auth.origins, status }))
    .use(metricsRoutes(metrics.page))
    .use(pages.routes)
    .use(openApiRoutes(() => app))
    .use(surface('/v1', machineGate, facts, services))
    .use(surface('/console', consoleGate, facts, services))
    .use(authRoutes(consoleGate, auth))
    .use(
      new Elysia({ prefix: '/v1' })
        .use(agentRoutes(machineGate, { agent: services.agent, sse, facts }))
        .use(deviceEndpointRoutes(machineGate, options.deviceEndpoints)),
    )
    .use(consoleOnly(consoleGate, services))
    .use(
      new Elysia({ prefix: '/console' }).use(playgroundRoutes(consoleGate, { ...services, sse })),
    )
  table.fill(app.routes)
  return app
}
