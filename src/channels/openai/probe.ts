import type { Clock } from '../../core/clock.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../core/limits/upstream.ts'
import {
  readStart,
  type SenderOptions,
  type SendingCall,
  UpstreamCall,
} from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { createTransport } from './completions.ts'
import { firstChatModel } from './models.ts'

export interface ProbeOptions extends SenderOptions {
  readonly clock: Clock
  /** Null for the first chat model that the endpoint lists, or no name if it lists none. */
  readonly model: string | null
  /** Time limit of the whole probe. */
  readonly timeoutMs: number
}

/** `error` is a short sanitised phrase such as `HTTP 401` or `connection failed`. */
export type ProbeResult =
  | { readonly ok: true; readonly latency_ms: number }
  | { readonly ok: false; readonly latency_ms: number; readonly error: string }

/**
 * Asks for one token, once, and tells whether the endpoint answered 200. Throws only the signal's
 * reason, when aborted.
 */
export async function probe(options: ProbeOptions, signal: AbortSignal): Promise<ProbeResult> {
  const { clock } = options
  const start = clock.steady()
  const call = new UpstreamCall(clock, options.timeoutMs, signal)
  const result = (error: string | null): ProbeResult => {
    const latency_ms = Math.round(clock.steady() - start)
    return error === null ? { ok: true, latency_ms } : { ok: false, latency_ms, error }
  }
  try {
    // The time limit is that of the whole probe, so a request does not restart the wait.
    const status = await complete(options, {
      signal: call.signal,
      restartWait() {},
      explain: (error) => call.explain(error),
    })
    return result(status === 200 ? null : `HTTP ${status}`)
  } catch (error) {
    const cause = call.explain(error)
    if (!(cause instanceof ChannelFailure)) throw cause
    return result(cause.phrase)
  } finally {
    call.close()
  }
}

async function complete(options: ProbeOptions, call: SendingCall): Promise<number> {
  const transport = createTransport(options)

  async function listedModel(): Promise<string | null> {
    const response = await transport.list(call)
    return response.ok ? firstChatModel(response) : null
  }

  const model = options.model ?? (await listedModel())
  const messages = [{ role: 'user', content: 'ping' }]
  const body = { ...(model === null ? {} : { model }), messages }
  const ask = (limit: object) => transport.complete(call, { ...body, ...limit }, 'application/json')

  const response = await ask({ max_tokens: 1 })
  if (response.status !== 400) return response.status
  // The newest models of one vendor refuse `max_tokens` and name the field that replaces it.
  const text = await readStart(response, UPSTREAM_ERROR_BYTES_MAX)
  if (!text.includes('max_completion_tokens')) return response.status
  return (await ask({ max_completion_tokens: 1 })).status
}
