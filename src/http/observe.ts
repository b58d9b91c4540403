import { Elysia } from 'elysia'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Meters } from '../core/meters.ts'
import type { Principal } from '../core/principal.ts'
import type { JoinedRoutes } from './door-routes.ts'
import { pathOf } from './openai-answers.ts'

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
  /**
   * What becomes known only after the headers were sent; the log row waits for it. Never rejects.
   */
  later: Promise<Partial<RequestContext>> | null
  /** Resolves when the stream has ended, which completes the log row. Never rejects. */
  ended: Promise<StreamTimes> | null
}

export interface StreamedTurn {
  readonly channel: RequestContext['channel']
  readonly begun: Promise<void>
  readonly over: Promise<StreamTimes>
}

/** Times of a stream, on the steady clock. */
export interface StreamTimes {
  /** When the first word, or the first sound, was sent; null when there was none. */
  readonly firstAt: number | null
  readonly endedAt: number
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
        ended: null,
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
    /** Adds what becomes known of a streamed turn: first its channel, and at its end its times. */
    noteTurn(request: Request, turn: StreamedTurn): void {
      const context = known.get(request)
      if (!context) return
      context.later = turn.begun.then(() => ({ channel: turn.channel }))
      context.ended = turn.over
    },
    /** Times the pieces of a stream for its log row. */
    timed<Piece>(request: Request, pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
      const { promise, resolve } = Promise.withResolvers<StreamTimes>()
      const context = known.get(request)
      if (context) context.ended = promise
      return timedPieces(pieces, steady, resolve)
    },
  }
}

async function* timedPieces<Piece>(
  pieces: AsyncGenerator<Piece>,
  steady: () => number,
  onEnd: (times: StreamTimes) => void,
) {
  let firstAt: number | null = null
  try {
    for await (const piece of pieces) {
      firstAt ??= steady()
      yield piece
    }
  } finally {
    onEnd({ firstAt, endedAt: steady() })
  }
}

export type RequestContexts = ReturnType<typeof createRequestContexts>

/** The labels of the request log beside those of doors; a route without one is not logged. */
const LABELS: Readonly<Record<string, string>> = {
  'POST /v1/agent': '/v1/agent',
  'POST /v1/tts': '/v1/tts',
  'POST /v1/tts/stream': '/v1/tts/stream',
  'POST /v1/asr': '/v1/asr',
  'GET /v1/kb/docs': '/v1/kb/docs',
  'POST /v1/kb/docs': '/v1/kb/docs',
  'DELETE /v1/kb/docs/:id': '/v1/kb/docs/:id',
  // A path without an id is answered with 400, and counts for the same endpoint.
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
  'POST /v1/files': '/v1/files',
  'GET /v1/files': '/v1/files',
  'GET /v1/files/:id': '/v1/files/:id',
  'DELETE /v1/files/:id': '/v1/files/:id',
  'GET /v1/files/:id/text': '/v1/files/:id',
  'POST /v1/files/:id/refresh': '/v1/files/:id',
  'POST /v1/files/:id/keep': '/v1/files/:id',
  'PUT /v1/sessions/:id/turns/:seq/feedback': '/v1/feedback',
  'GET /v1/feedback': '/v1/feedback',
  'POST /s/:token': '/s',
  'POST /v1/mcp': '/v1/mcp',
  'POST /v1/embeddings': '/v1/embeddings',
}

/** Other methods share one metrics label: a client could invent any number of them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])

export interface LoggedRequest extends RequestContext {
  readonly endpoint: string
  readonly status: number
  /** Epoch milliseconds. */
  readonly ts: number
  /** Whole milliseconds from the first byte of the request to headers ready. */
  readonly latencyMs: number
}

/** One step of a request that has a row of its own; it changes what is known of the request. */
export type LoggedStep = Omit<LoggedRequest, keyof RequestContext | 'ts'> & Partial<RequestContext>

export const rowOfStep = (known: RequestContext, step: LoggedStep, ts: number): LoggedRequest => ({
  ...known,
  ...step,
  ts,
})

/** Completes a row: milliseconds from the first byte of the request. */
export type RecordEnd = (firstMs: number | null, totalMs: number) => void

export interface ObserveOptions {
  readonly contexts: RequestContexts
  readonly clock: Pick<Clock, 'now' | 'steady'>
  /** Takes the row of the request log, and of a stream, once it has ended, its times. */
  readonly record: (request: LoggedRequest) => RecordEnd
  /** Null when metrics are switched off. */
  readonly meters: Pick<Meters, 'request'> | null
  /** Gets one line for each request; null unless the log level is debug. */
  readonly log: Pick<Logger, 'debug'> | null
  readonly doors: Pick<JoinedRoutes, 'labels' | 'unheard'>
  /** Gives back the memory that the request's body took. */
  readonly release: (request: Request) => void
}

/**
 * What follows each answer, in one hook: the row of the request log, the metrics, the line in the
 * server log. They know the route and never the path, which can hold the name of a session.
 */
export function observe(options: ObserveOptions) {
  const { contexts, clock, record, meters, log, doors, release } = options
  const labels = { ...LABELS, ...doors.labels }
  return new Elysia({ name: 'observe' }).onAfterResponse(
    { as: 'global' },
    ({ request, route, set }) => {
      release(request)
      const context = contexts.of(request)
      // Elysia leaves 200 unset, and the route of an unknown path empty.
      const status = typeof set.status === 'number' ? set.status : 200
      const ms = context ? clock.steady() - context.startedAt : 0
      const endpoint = labels[`${request.method} ${route}`]
      const row = context && logRow(context, endpoint, { status, ms, ts: clock.now() })
      if (row?.later || row?.ended) void recordStream(row, record)
      else if (row) record(row)
      meters?.request(methodLabel(request), patternOf(route, status), status, ms / 1000)
      if (!log || doors.unheard.has(`${request.method} ${pathOf(request.url)}`)) return
      log.debug('request', {
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

async function recordStream(row: LoggedRequest, record: ObserveOptions['record']): Promise<void> {
  const end = record(Object.assign(row, await row.later))
  const times = await row.ended
  if (!times) return
  const since = (at: number) => Math.round(at - row.startedAt)
  end(times.firstAt === null ? null : since(times.firstAt), since(times.endedAt))
}

interface Answered {
  readonly status: number
  readonly ms: number
  readonly ts: number
}

/** Null for routes without a label and for a 401, which has no tenant. */
function logRow(
  context: RequestContext,
  endpoint: string | undefined,
  { status, ms, ts }: Answered,
): LoggedRequest | null {
  if (!context.principal || endpoint === undefined || status === 401) return null
  const errorClass = status >= 400 ? context.errorClass : null
  return { ...context, errorClass, endpoint, status, ts, latencyMs: Math.round(ms) }
}

const methodLabel = ({ method }: Request) => (METHODS.has(method) ? method : 'other')

/** The route of an answered request as hooks see it; empty where none matched. */
const routeLabel = (route: string | undefined): string => route || 'unmatched'

const patternOf = (route: string, status: number) => routeLabel(status === 404 ? '' : route)
