import { Elysia } from 'elysia'
import type { Logger } from '../core/log.ts'
import type { Meters } from '../core/meters.ts'
import type { Principal } from '../core/principal.ts'
import { routeLabel } from './errors.ts'

/**
 * Metadata of one request, for the rows and lines that are written after it. It never holds
 * anything that was said.
 */
export interface RequestContext {
  /** The answer's X-Request-Id. */
  readonly requestId: string
  /** Milliseconds on the steady clock. */
  readonly startedAt: number
  principal: Principal | null
  sessionId: string | null
  textChars: number | null
  channel: 'byo' | 'platform' | null
  errorClass: string | null
  /** What is learned after the headers; the log row waits for it. Never rejects. */
  later: Promise<Partial<RequestContext>> | null
}

/** Contexts by request. A context is collected with its request. */
export function createRequestContexts(steady: () => number) {
  const known = new WeakMap<Request, RequestContext>()
  return {
    begin(request: Request, requestId: string): void {
      known.set(request, {
        requestId,
        startedAt: steady(),
        principal: null,
        sessionId: null,
        textChars: null,
        channel: null,
        errorClass: null,
        later: null,
      })
    },
    of(request: Request): RequestContext | undefined {
      return known.get(request)
    },
    /** Adds what a handler learned of the request. */
    note(request: Request, more: Partial<RequestContext>): void {
      const context = known.get(request)
      if (context) Object.assign(context, more)
    },
    /** Adds what a handler learns only when its stream has begun. */
    noteLater(request: Request, later: Promise<Partial<RequestContext>>): void {
      const context = known.get(request)
      if (context) context.later = later
    },
  }
}

export type RequestContexts = ReturnType<typeof createRequestContexts>

/** The specification's fixed set of log labels, by method and route. */
const LABELS: Readonly<Record<string, string>> = {
  'POST /v1/agent': '/v1/agent',
  'POST /v1/chat/completions': '/v1/chat/completions',
  'POST /v1/responses': '/v1/responses',
  'POST /v1/tts': '/v1/tts',
  'POST /v1/tts/stream': '/v1/tts/stream',
  'POST /v1/asr': '/v1/asr',
  'GET /v1/kb/docs': '/v1/kb/docs',
  'POST /v1/kb/docs': '/v1/kb/docs',
  'DELETE /v1/kb/docs/:id': '/v1/kb/docs/:id',
  // Without an id it is a 400 of the same endpoint.
  'DELETE /v1/kb/docs/': '/v1/kb/docs/:id',
  'DELETE /v1/kb/docs': '/v1/kb/docs/:id',
  'POST /v1/kb/search': '/v1/kb/search',
  'POST /v1/kb/files': '/v1/kb/files',
  'POST /v1/kb/urls': '/v1/kb/urls',
  'GET /v1/kb/sources': '/v1/kb/sources',
  'GET /v1/kb/sources/:id': '/v1/kb/sources/:id',
  'PUT /v1/kb/sources/:id': '/v1/kb/sources/:id',
  'DELETE /v1/kb/sources/:id': '/v1/kb/sources/:id',
  'POST /v1/kb/sources/:id/refresh': '/v1/kb/sources/:id',
  'POST /v1/mcp': '/v1/mcp',
  'POST /v1/embeddings': '/v1/embeddings',
  'POST /v1/audio/speech': '/v1/audio/speech',
  'POST /v1/audio/transcriptions': '/v1/audio/transcriptions',
}

/** Other methods share one metrics label: a client could invent any number of them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])

export interface LoggedRequest extends RequestContext {
  readonly endpoint: string
  readonly status: number
  /** Whole milliseconds from the first byte of the request to headers ready. */
  readonly latencyMs: number
}

export interface ObserveOptions {
  readonly contexts: RequestContexts
  /** Milliseconds on the steady clock. */
  readonly steady: () => number
  /** Takes the row of the request log. */
  readonly record: (request: LoggedRequest) => void
  /** Null: nobody reads the metrics. */
  readonly meters: Pick<Meters, 'request'> | null
  /** Gets a line a request at level debug; null at any other level. */
  readonly log: Pick<Logger, 'debug'> | null
  /** Gives back the memory that the request's body took. */
  readonly release: (request: Request) => void
}

/**
 * What follows each answer, in one hook: the row of the request log, the metrics, the line in the
 * server log. They know the route and never the path, which can hold the name of a session.
 */
export function observe(options: ObserveOptions) {
  const { contexts, steady, record, meters, log, release } = options
  return new Elysia({ name: 'observe' }).onAfterResponse(
    { as: 'global' },
    ({ request, route, set }) => {
      release(request)
      const context = contexts.of(request)
      // Elysia leaves 200 unset, and the route of an unknown path empty.
      const status = typeof set.status === 'number' ? set.status : 200
      const ms = context ? steady() - context.startedAt : 0
      const row = context && logRow(context, request.method, route, status, ms)
      if (row?.later) row.later.then((more) => record({ ...row, ...more }))
      else if (row) record(row)
      meters?.request(methodLabel(request), patternOf(route, status), status, ms / 1000)
      log?.debug('request', {
        id: context?.requestId,
        method: request.method.slice(0, 10),
        route: routeLabel(route).slice(0, 100),
        status,
        ms: Math.round(ms),
        tenant: context?.principal?.tenantId,
        key: context?.principal?.keyId ?? undefined,
        error: context?.errorClass ?? undefined,
      })
    },
  )
}

/** Null for routes without a label and for a 401, which has no tenant. */
function logRow(
  context: RequestContext,
  method: string,
  route: string,
  status: number,
  ms: number,
): LoggedRequest | null {
  const endpoint = LABELS[`${method} ${route}`]
  if (!context.principal || endpoint === undefined || status === 401) return null
  const errorClass = status >= 400 ? context.errorClass : null
  return { ...context, errorClass, endpoint, status, latencyMs: Math.round(ms) }
}

const methodLabel = ({ method }: Request) => (METHODS.has(method) ? method : 'other')

const patternOf = (route: string, status: number) => routeLabel(status === 404 ? '' : route)
