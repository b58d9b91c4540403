import { EventStream } from '../net/event-stream.ts'
import type { UpstreamFetch } from '../net/upstream-call.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { type McpEndpoint, McpFailure } from '../ports/mcp.ts'

/** A JSON-RPC request or notification, without its version. */
export interface RpcMessage {
  /** Absent: a notification, which is not answered. */
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

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

export interface ExchangeOptions {
  readonly fetch: UpstreamFetch
  readonly parse: ParseJson
  readonly endpoint: McpEndpoint
  readonly budget: ReadBudget
  readonly signal: AbortSignal
}

/**
 * One POST of Streamable HTTP and its answer. In an event stream, requests and notifications of the
 * server are skipped until the answer comes. Statuses below 500 with a meaning in the protocol are
 * returned; all others, and redirects, are failures. Throws `McpFailure` or the signal's reason.
 */
export async function exchange(
  { fetch, parse, endpoint, budget, signal }: ExchangeOptions,
  message: RpcMessage,
  headers: Readonly<Record<string, string>>,
): Promise<RpcAnswer> {
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
    refuse(status)
    const sessionId = response.headers.get('mcp-session-id')
    const parseText = (text: string) => parse(endpoint.tenantId, text)
    const answer = await answerIn(response, message.id, budget, parseText)
    return { status, sessionId, result: answer?.result ?? null, error: answer?.error ?? null }
  } catch (error) {
    throw explain(error, signal)
  }
}

function refuse(status: number): void {
  if (status === 401 || status === 403) throw new McpFailure('refused', `HTTP ${status}`)
  if (status >= 300 && status < 400) throw new McpFailure('malformed', 'redirect')
  if (status >= 500 || status === 408 || status === 429) {
    throw new McpFailure('unreachable', `HTTP ${status}`)
  }
}

function explain(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof McpFailure) return error
  if (error instanceof ChannelFailure) {
    const reason = error.reason === 'channel_unavailable' ? 'guarded' : 'malformed'
    return new McpFailure(reason, error.phrase)
  }
  return new McpFailure('unreachable', 'connection failed', { cause: error })
}

type Answer = Pick<RpcAnswer, 'result' | 'error'>

/** Null when the body has no answer to this request. */
async function answerIn(
  response: Response,
  id: number | undefined,
  budget: ReadBudget,
  parse: (text: string) => Promise<unknown>,
): Promise<Answer | null> {
  const type = response.headers.get('content-type') ?? ''
  const isStream = /^\s*text\/event-stream\b/i.test(type)
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
        const answer = answerOf(await parse(event), id)
        if (answer) return answer
      }
    }
  } finally {
    // Cancels the rest of the body; does nothing when the body was read to its end.
    void reader?.cancel().catch(() => {})
  }
  const rest = isStream ? stream.end() : Buffer.concat(parts).toString('utf8')
  return answerOf(await parse(rest ?? ''), id)
}

/** Null for a message that does not answer the request, such as a notification. */
function answerOf(message: unknown, id: number | undefined): Answer | null {
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
export function resultOf({ status, result, error }: RpcAnswer): Readonly<Record<string, unknown>> {
  if (error) throw new McpFailure('malformed', `error ${error.code}`)
  if (!result) throw new McpFailure('malformed', status < 400 ? 'no answer' : `HTTP ${status}`)
  const { resultType = 'complete' } = result
  if (resultType !== 'complete') throw new McpFailure('malformed', 'wants more input')
  return result
}
