import type { Clock } from '../core/clock.ts'
import { ChannelFailure } from './failure.ts'

/** The part of `fetch` that adapters use. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface HttpCallOptions {
  readonly fetch: Fetch
  readonly clock: Clock
  /** Longest wait for the answer to begin, and for each part of it afterwards, in milliseconds. */
  readonly firstMs: number
  readonly silenceMs: number
}

export interface HttpAnswer {
  readonly contentType: string
  /** To be read once. Throws `ChannelFailure`; throws the signal's reason when aborted. */
  readonly body: AsyncGenerator<Uint8Array>
  /** Ends the request; needed when the body is not read to its end. */
  close(): void
}

export interface HttpRefusal {
  readonly failure: ChannelFailure
  /** Start of the body, to look for words in; never to be passed on. */
  readonly words: string
}

const REFUSAL_CHARS_MAX = 4_000
const RETRY_AFTER_SECONDS_MAX = 3_600

/**
 * One request to a speech upstream. Redirects are not followed, because the key would travel along.
 * Returns a refusal for every status but 2xx, and for a host that cannot be reached.
 */
export async function httpCall(
  url: string,
  init: RequestInit,
  caller: AbortSignal,
  options: HttpCallOptions,
): Promise<HttpAnswer | HttpRefusal> {
  caller.throwIfAborted()
  const life = openLife(caller, options.clock)
  try {
    const signal = life.signal
    const sent = { ...init, redirect: 'manual', signal } as const
    const response = await life.within(options.firstMs, options.fetch(url, sent))
    if (!response.ok) return await refusal(response, life, options)
    return {
      contentType: response.headers.get('content-type') ?? '',
      body: read(response, life, options.silenceMs),
      close: life.end,
    }
  } catch (error) {
    life.end()
    caller.throwIfAborted()
    return { failure: unreachable(error), words: '' }
  }
}

type Life = ReturnType<typeof openLife>

/** Ends the request when the caller leaves or when a step takes too long. */
function openLife(caller: AbortSignal, clock: Clock) {
  const controller = new AbortController()
  const leave = () => controller.abort(caller.reason)
  caller.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    async within<T>(ms: number, work: Promise<T>): Promise<T> {
      const cancel = clock.after(ms, () => controller.abort(new TimedOut()))
      try {
        return await work
      } catch (error) {
        throw controller.signal.aborted ? controller.signal.reason : error
      } finally {
        cancel()
      }
    },
    end(): void {
      caller.removeEventListener('abort', leave)
      controller.abort()
    },
  }
}

class TimedOut extends Error {}

function unreachable(cause: unknown): ChannelFailure {
  if (cause instanceof ChannelFailure) return cause
  if (cause instanceof TimedOut) return new ChannelFailure('retry_exhausted', 'timed out')
  return new ChannelFailure('retry_exhausted', 'connection failed', { retryable: true, cause })
}

async function* read(response: Response, life: Life, silenceMs: number) {
  const reader = response.body?.getReader()
  try {
    while (reader !== undefined) {
      const { done, value } = await life.within(silenceMs, reader.read())
      if (done) return
      yield value
    }
  } catch (cause) {
    if (cause instanceof TimedOut) throw new ChannelFailure('provider_error', 'stream went silent')
    if (life.signal.aborted) throw cause
    throw new ChannelFailure('provider_error', 'connection broken', { cause })
  } finally {
    life.end()
  }
}

async function refusal(
  response: Response,
  life: Life,
  { silenceMs }: HttpCallOptions,
): Promise<HttpRefusal> {
  const { status } = response
  let words = ''
  try {
    const utf8 = new TextDecoder()
    for await (const chunk of read(response, life, silenceMs)) {
      words += utf8.decode(chunk, { stream: true })
      if (words.length >= REFUSAL_CHARS_MAX) break
    }
  } catch {
    // The status alone says enough.
  }
  life.end()
  const retryAfterMs = retryAfter(response.headers.get('retry-after'))
  const details = { status, ...(retryAfterMs === null ? {} : { retryAfterMs }) }
  const fail = (reason: ChannelFailure['reason'], retryable: boolean) => ({
    failure: new ChannelFailure(reason, `HTTP ${status}`, { ...details, retryable }),
    words: words.slice(0, REFUSAL_CHARS_MAX),
  })
  if (status === 408 || status === 429) return fail('retry_exhausted', true)
  if (status >= 500) return fail('upstream_5xx', true)
  return fail(status >= 400 ? 'upstream_4xx' : 'provider_error', false)
}

/** The form in seconds of `Retry-After`; a date is left to the usual back-off. */
function retryAfter(value: string | null): number | null {
  if (value === null || !/^\s*\d{1,6}\s*$/.test(value)) return null
  return Math.min(Number(value), RETRY_AFTER_SECONDS_MAX) * 1_000
}

/** The whole body as text; throws `ChannelFailure` beyond `bytesMax`. */
export async function readText(answer: HttpAnswer, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > bytesMax) throw new ChannelFailure('provider_error', 'answer too large')
    parts.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

/**
 * `path` below a configured root, whose own path and query stay. Throws `ChannelFailure` for a root
 * that is no http(s) URL.
 */
export function urlBelow(root: string, path: string): string {
  const url = URL.parse(root)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ChannelFailure('channel_unavailable', 'invalid base URL')
  }
  url.pathname = url.pathname.replace(/\/+$/, '') + path
  url.hash = ''
  return url.href
}

/** No header for no key. Throws `ChannelFailure` for a key that no HTTP header can hold. */
export function bearerHeader(key: string): Record<string, string> {
  if (key === '') return {}
  if (/^[\x20-\x7e]+$/.test(key)) return { authorization: `Bearer ${key}` }
  throw new ChannelFailure('channel_unavailable', 'invalid key')
}
