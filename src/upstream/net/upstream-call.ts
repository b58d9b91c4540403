import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'

/** The runtime's `fetch`, or the guarded one (egress/guarded-fetch.ts). */
type PlainFetch = (url: string, init: BunFetchRequestInit) => Promise<Response>

/**
 * The only `fetch` that adapters take; a plain one does not fit this type. Throws as `fetch` does,
 * and `ChannelFailure`.
 */
export type UpstreamFetch = ((url: string, init: RequestInit) => Promise<Response>) & {
  readonly unpacks: false
}

/**
 * Fetches from an upstream without trusting its answer:
 * - The runtime decompresses nothing. It would do so in the one thread that serves all requests,
 *   without a limit and even after an abort: 12 KB of Brotli became 7.8 GB of memory. So requests
 *   ask for `identity`, and an answer in any other content coding is a failure.
 * - Redirects are not followed. The key would be sent along, and an upstream could redirect to an
 *   address that only this machine can reach.
 */
export function createUpstreamFetch(fetch: PlainFetch): UpstreamFetch {
  const ask = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    if (!headers.has('user-agent')) headers.set('user-agent', 'moonbase')
    const response = await fetch(url, { ...init, headers, redirect: 'manual', decompress: false })
    return isUnpacked(response) ? response : withoutBody(response)
  }
  return Object.assign(ask, { unpacks: false } as const)
}

function isUnpacked({ headers }: Response): boolean {
  const coding = headers.get('content-encoding')
  return coding === null || /^\s*(identity\s*)?$/i.test(coding)
}

/** Keeps the status of a compressed error answer and drops its body. */
async function withoutBody(response: Response): Promise<Response> {
  await response.body?.cancel().catch(() => {})
  if (response.ok) throw new ChannelFailure('provider_error', 'compressed answer')
  return new Response(null, { status: response.status, headers: response.headers })
}

/** The body as text, cut off after `bytesMax` bytes; nothing more is read from the upstream. */
export async function readStart(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    size += value.length
    if (size >= bytesMax) await reader.cancel()
  }
  return new TextDecoder().decode(Buffer.concat(parts).subarray(0, bytesMax))
}

export interface Endpoint {
  /** Root of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** When empty, no `Authorization` is sent. */
  readonly apiKey: string
}

/**
 * `path` below the root. The root's own path and query stay as given, except for trailing slashes.
 * Throws `ChannelFailure` (`channel_unavailable`) for a root that is no http(s) URL.
 */
export function endpointUrl({ baseUrl }: Endpoint, path: string): string {
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ChannelFailure('channel_unavailable', 'invalid base URL')
  }
  url.pathname = url.pathname.replace(/\/+$/, '') + path
  url.hash = ''
  return url.href
}

/** Throws `ChannelFailure` (`channel_unavailable`) for a key that no HTTP header can hold. */
export function endpointHeaders({ apiKey }: Endpoint): Record<string, string> {
  if (apiKey === '') return {}
  if (!/^[\x20-\x7e]+$/.test(apiKey)) {
    throw new ChannelFailure('channel_unavailable', 'invalid key')
  }
  return { authorization: `Bearer ${apiKey}` }
}

/** Host name, to tell vendors apart; empty when the root is no URL. */
export const endpointHost = (baseUrl: string) => URL.parse(baseUrl)?.hostname ?? ''

/** Host name and port, to tell servers of one machine apart; empty when the root is no URL. */
export function endpointPlace(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  if (!url) return ''
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
}

/**
 * The life of one upstream request. Its `signal` goes to `fetch` and aborts when the caller aborts,
 * when the upstream is silent for too long, and when the call is closed. One timer serves the whole
 * stream: when it fires it looks at the last activity and starts again, so a read needs no timer.
 */
export class UpstreamCall {
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #controller = new AbortController()
  #timeoutMs: number
  #waitingSince: number | null
  #hasBytes = false
  #timedOut = false
  #stopTimer: () => void

  /** Throws the caller's reason when the caller has aborted. */
  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal) {
    caller.throwIfAborted()
    this.#clock = clock
    this.#caller = caller
    this.#timeoutMs = timeoutMs
    this.#waitingSince = clock.steady()
    this.#stopTimer = clock.after(timeoutMs, this.#check)
    caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the call ended because the upstream was silent for too long. */
  get timedOut(): boolean {
    return this.#timedOut
  }

  /** A new request was sent: silence counts from now on. */
  restartWait(): void {
    this.#waitingSince = this.#clock.steady()
  }

  /** The reader waits for bytes from now on, unless it was waiting already. */
  startWait(): void {
    this.#waitingSince ??= this.#clock.steady()
  }

  /** Bytes of the answer have come: the silence is over. */
  gotBytes(): void {
    this.#hasBytes = true
    this.#waitingSince = null
  }

  /** Bytes have come that complete no event: an endless line, byte by byte, counts as silence. */
  gotFragment(): void {
    this.#hasBytes = true
  }

  /** Lowers the silence limit for the rest of the stream. */
  shortenTimeout(ms: number): void {
    if (ms >= this.#timeoutMs) return
    this.#timeoutMs = ms
    this.#stopTimer()
    this.#stopTimer = this.#clock.after(ms, this.#check)
  }

  /**
   * Turns an error of `fetch` or of a read into the caller's abort reason or a `ChannelFailure`.
   */
  explain(error: unknown): unknown {
    if (this.#caller.aborted) return this.#caller.reason
    if (error instanceof ChannelFailure) return error
    if (this.#hasBytes) {
      const phrase = this.#timedOut ? 'stream went silent' : 'connection broken'
      return new ChannelFailure('provider_error', phrase, { cause: error })
    }
    const phrase = this.#timedOut ? 'timed out' : 'connection failed'
    return new ChannelFailure('retry_exhausted', phrase, { retryable: true, cause: error })
  }

  /** Throws the caller's reason when the caller has aborted. */
  throwIfAborted(): void {
    this.#caller.throwIfAborted()
  }

  /** Releases timer and listener. Ends the request, unless its body was read to the end. */
  close(complete = false): void {
    this.#stopTimer()
    this.#caller.removeEventListener('abort', this.#onAbort)
    if (!complete) this.#controller.abort()
  }

  readonly #onAbort = () => this.#controller.abort(this.#caller.reason)

  // Time that the reader takes between two reads does not count as the upstream's silence.
  readonly #check = (): void => {
    const since = this.#waitingSince
    const idleMs = since === null ? 0 : Math.max(0, this.#clock.steady() - since)
    if (idleMs < this.#timeoutMs) {
      this.#stopTimer = this.#clock.after(this.#timeoutMs - idleMs, this.#check)
      return
    }
    this.#timedOut = true
    this.#controller.abort()
  }
}

/** What sending a request needs of its call. */
export type SendingCall = Pick<UpstreamCall, 'signal' | 'restartWait' | 'explain'>

export interface SenderOptions extends Endpoint {
  readonly fetch: UpstreamFetch
}

/**
 * Sends one request of a call below an endpoint's root, with its key. Throws `ChannelFailure`, or
 * the caller's abort reason. It never sends twice: see retry.ts.
 */
export function createSender(options: SenderOptions) {
  const urls = new Map<string, string>()

  return async (call: SendingCall, path: string, init: RequestInit): Promise<Response> => {
    try {
      const url = urls.get(path) ?? endpointUrl(options, path)
      urls.set(path, url)
      const headers = { ...endpointHeaders(options), ...init.headers }
      call.restartWait()
      return await options.fetch(url, { ...init, headers, signal: call.signal })
    } catch (error) {
      throw call.explain(error)
    }
  }
}
