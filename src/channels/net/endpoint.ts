import { ChannelFailure } from '../ports/failure.ts'

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
