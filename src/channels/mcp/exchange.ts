import type { Clock } from '../../core/clock.ts'
import { EventStream } from '../../upstream/net/event-stream.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { challengeParameter } from '../../upstream/net/www-authenticate.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { ElicitationRefused, type McpEndpoint, McpFailure } from '../../upstream/ports/mcp.ts'

/** A JSON-RPC message, without its version. */
export interface RpcMessage {
  /** Absent: a notification, which is not answered. */
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** Our answer to a request of the server. */
export type RpcReply = { readonly id: string | number } & (
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }
)

export interface RpcError {
  readonly code: number
  readonly data: unknown
}

export interface RpcAnswer {
  readonly status: number
  readonly sessionId: string | null
  readonly result: Readonly<Record<string, unknown>> | null
  readonly error: RpcError | null
}

/** How many bytes one piece of work may read, over all its answers. */
export interface ReadBudget {
  bytes: number
}

/** Parses untrusted JSON within limits; undefined when it is malformed. */
export type ParseJson = (tenantId: string, text: string) => Promise<unknown>

/** Ids of requests, none twice: servers tell the calls of one session apart by them. */
export const createIds = () => {
  let last = 0
  return () => ++last
}

export interface ExchangeOptions {
  readonly fetch: UpstreamFetch
  readonly nextId: () => number
  readonly parse: ParseJson
  readonly endpoint: McpEndpoint
  readonly budget: ReadBudget
  readonly clock: Pick<Clock, 'sleep'>
  readonly signal: AbortSignal
  /** Answers a request of the server that comes before its answer; without it they are skipped. */
  readonly onRequest?: (message: ServerRequest) => Promise<void>
}

/** A request of the server, within the answer to one of ours. */
export interface ServerRequest {
  readonly id: string | number
  readonly method: string
  readonly params: unknown
}

/**
 * One POST of Streamable HTTP and its answer. In an event stream, requests and notifications of the
 * server are skipped until the answer comes. Statuses below 500 with a meaning in the protocol are
 * returned; all others, and redirects, are failures. Throws `McpFailure` or the signal's reason.
 */
export async function exchange(
  work: ExchangeOptions,
  message: RpcMessage | RpcReply,
  headers: Readonly<Record<string, string>>,
): Promise<RpcAnswer> {
  const { fetch, parse, endpoint, budget, signal } = work
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      headers: {
        ...endpoint.headers,
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signal,
    })
    const { status } = response
    refuse(response)
    const sessionId = response.headers.get('mcp-session-id')
    const id = 'method' in message ? message.id : undefined
    const parseText = (text: string) => parse(endpoint.tenantId, text)
    const reading = { budget, parse: parseText, onRequest: work.onRequest }
    let read = await answerIn(response, id, reading)
    // A server may close the stream of a long call, and have its client come back for the answer.
    for (let times = 0; read.answer === null && read.from && times < RESUMED_MAX; times++) {
      const next = await resume(work, read.from, headers)
      if (next === null) break
      read = await answerIn(next, id, reading, read.from)
    }
    const { result, error } = read.answer ?? { result: null, error: null }
    return { status, sessionId, result, error }
  } catch (error) {
    throw explain(error, signal)
  }
}

/** How often a client comes back for one answer, and how long it waits before. */
const RESUMED_MAX = 1_000
const [RETRY_MS, RETRY_MS_MIN, RETRY_MS_MAX] = [1_000, 100, 60_000]
/** Other ids do not fit into a header. */
const EVENT_ID = /^[\x20-\x7e]{1,1000}$/

/** The place in a stream that was closed before its answer. */
interface Place {
  readonly id: string
  readonly retryMs: number
}

/** The rest of a stream that was closed; null where the server does not continue it. */
async function resume(
  { fetch, endpoint, clock, signal }: ExchangeOptions,
  { id, retryMs }: Place,
  headers: Readonly<Record<string, string>>,
): Promise<Response | null> {
  await clock.sleep(Math.min(Math.max(retryMs, RETRY_MS_MIN), RETRY_MS_MAX), signal)
  const response = await fetch(endpoint.url, {
    headers: {
      ...endpoint.headers,
      ...headers,
      accept: 'text/event-stream',
      'last-event-id': id,
    },
    signal,
  })
  refuse(response)
  if (response.ok && isEventStream(response)) return response
  await response.body?.cancel()
  return null
}

export const isEventStream = ({ headers }: Response): boolean =>
  /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '')

function refuse({ status, headers }: Response): void {
  if (status === 401 || status === 403) {
    const said = headers.get('www-authenticate') ?? ''
    const isNarrow = challengeParameter(said, 'error') === 'insufficient_scope'
    const scopes = status === 403 && isNarrow ? challengeParameter(said, 'scope') : null
    throw new McpFailure('refused', `HTTP ${status}`, { unauthorized: status === 401, scopes })
  }
  if (status >= 300 && status < 400) throw new McpFailure('malformed', 'redirect')
  if (status >= 500 || status === 408 || status === 429) {
    throw new McpFailure('unreachable', `HTTP ${status}`)
  }
}

function explain(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof McpFailure || error instanceof ElicitationRefused) return error
  if (error instanceof ChannelFailure) {
    const reason = error.reason === 'channel_unavailable' ? 'guarded' : 'malformed'
    return new McpFailure(reason, error.phrase)
  }
  return new McpFailure('unreachable', 'connection failed', { cause: error })
}

type RpcOutcome = Pick<RpcAnswer, 'result' | 'error'>

interface Read {
  /** Null when the body has no answer to this request. */
  readonly answer: RpcOutcome | null
  /** Where a stream without the answer may be continued; null where it may not. */
  readonly from: Place | null
}

interface Reading {
  readonly budget: ReadBudget
  readonly parse: (text: string) => Promise<unknown>
  readonly onRequest: ExchangeOptions['onRequest']
}

/** Reads a body until it answers the request `id`, or to its end. */
export async function answerIn(
  response: Response,
  id: number | undefined,
  { budget, parse, onRequest }: Reading,
  before: Place | null = null,
): Promise<Read> {
  const isStream = isEventStream(response)
  const parts: Uint8Array[] = []
  const events: string[] = []
  const stream = new EventStream(budget.bytes)
  const reader = response.body?.getReader()
  try {
    while (reader) {
      const { done, value } = await reader.read()
      if (done) break
      budget.bytes -= value.length
      if (budget.bytes < 0) throw new McpFailure('too_large', 'answer too large')
      if (!isStream) parts.push(value)
      else stream.push(value, events)
      for (const event of events.splice(0)) {
        const message = await parse(event)
        const answer = answerOf(message, id)
        if (answer) return { answer, from: null }
        const asked = onRequest && requestIn(message)
        if (asked) await onRequest(asked)
      }
    }
  } finally {
    // Cancels the rest of the body; does nothing when the body was read to its end.
    void reader?.cancel().catch(() => {})
  }
  const rest = isStream ? stream.end() : Buffer.concat(parts).toString('utf8')
  const answer = answerOf(await parse(rest ?? ''), id)
  return { answer, from: id === undefined ? null : placeIn(stream, before) }
}

/** A stream that was continued and brought no id of its own is continued from the same place. */
function placeIn({ lastId, retryMs }: EventStream, before: Place | null): Place | null {
  const id = lastId ?? before?.id ?? ''
  return EVENT_ID.test(id) ? { id, retryMs: retryMs ?? before?.retryMs ?? RETRY_MS } : null
}

function requestIn(message: unknown): ServerRequest | null {
  if (!isRecord(message)) return null
  const { id, method, params } = message
  if (typeof method !== 'string') return null
  return typeof id === 'string' || typeof id === 'number' ? { id, method, params } : null
}

/** Null for a message that does not answer the request, such as a notification. */
function answerOf(message: unknown, id: number | undefined): RpcOutcome | null {
  if (!isRecord(message)) return null
  const { result, error } = message
  if (isRecord(error) && typeof error.code === 'number') {
    // An error without an id counts: the server may not have been able to read the id.
    if (message.id !== id && message.id !== null && message.id !== undefined) return null
    return { result: null, error: { code: error.code, data: error.data } }
  }
  if (message.id !== id || id === undefined) return null
  return isRecord(result) ? { result, error: null } : null
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The result of an answer; throws `McpFailure` when it is missing or incomplete. */
export function resultOf(answer: RpcAnswer): Readonly<Record<string, unknown>> {
  const result = partOf(answer)
  const { resultType = 'complete' } = result
  if (resultType !== 'complete') throw new McpFailure('malformed', 'wants more input')
  return result
}

/** The same, where the server may want more input first. */
export function partOf({ status, result, error }: RpcAnswer): Readonly<Record<string, unknown>> {
  if (error) throw new McpFailure('malformed', `error ${error.code}`)
  if (!result) throw new McpFailure('malformed', status < 400 ? 'no answer' : `HTTP ${status}`)
  return result
}

/** The first event of the transport that Streamable HTTP replaced. */
const ENDPOINT_EVENT = /^event: ?endpoint\r?$/m
const FIRST_BYTES_MAX = 4_096

/**
 * Whether the server has no Streamable HTTP, but the HTTP+SSE of 2024-11-05: a GET of the same
 * address is a stream that begins with the address for messages.
 */
export async function speaksOldForm({ fetch, endpoint, signal }: ExchangeOptions) {
  const headers = { ...endpoint.headers, accept: 'text/event-stream' }
  try {
    const response = await fetch(endpoint.url, { headers, signal })
    const reader = response.body?.getReader()
    const parts: Uint8Array[] = []
    let size = 0
    while (reader && response.ok && isEventStream(response) && size < FIRST_BYTES_MAX) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      size += value.length
      if (ENDPOINT_EVENT.test(Buffer.concat(parts).toString('latin1'))) break
    }
    void reader?.cancel().catch(() => {})
    return ENDPOINT_EVENT.test(Buffer.concat(parts).toString('latin1'))
  } catch {
    signal.throwIfAborted()
    return false
  }
}
