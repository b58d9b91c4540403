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
 * Asks an upstream without trusting its answer:
 * - The runtime unpacks nothing. It would do so in the one thread that serves all requests, without
 *   a limit and even after an abort: 12 KB of Brotli became 7.8 GB of memory. So requests ask for
 *   `identity`, and an answer in any other content coding is a failure.
 * - Redirects are not followed. The key would travel along, and an upstream could point one at an
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

/** The status of a packed error answer still tells; its body is left out. */
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
  /** Empty: no `Authorization` is sent. */
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
