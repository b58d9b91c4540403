import { ChannelFailure } from '../ports/failure.ts'

export type ReadResult =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: Uint8Array | undefined }

/** The part of a `Response`'s body that adapters use. */
export interface AnswerBody {
  getReader(): { read(): Promise<ReadResult>; cancel(): Promise<void> }
  cancel(): Promise<void>
}

/** The part of a `Response` that adapters use. */
export interface Answer {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AnswerBody | null
}

/** The part of `fetch` that adapters use; a guarded one may throw `ChannelFailure` itself. */
export type Fetch = (url: string, init: RequestInit) => Promise<Answer>

export interface Endpoint {
  /** Root of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Empty: no `Authorization` is sent. */
  readonly apiKey: string
}

/**
 * `path` below the root, whose own path and query are kept as given but for trailing slashes.
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

/** Host name for telling vendors apart; empty when the root is no URL. */
export const endpointHost = (baseUrl: string) => URL.parse(baseUrl)?.hostname ?? ''
