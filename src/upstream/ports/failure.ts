/** Why a channel failed: the five reasons that clients may see. */
export type FailureReason =
  | 'retry_exhausted'
  | 'upstream_4xx'
  | 'upstream_5xx'
  | 'channel_unavailable'
  | 'provider_error'

/**
 * The `code` for clients of OpenAI's API when an embedder or a speech upstream failed. An invalid
 * answer counts as a fault of the upstream.
 */
export const openAiCodeOf = ({ reason }: ChannelFailure): string =>
  reason === 'provider_error' ? 'upstream_5xx' : reason

/** What an upstream says of messages that are too long, in tokens. */
export interface ContextSize {
  /** Of the messages; of messages and answer together where it does not tell them apart. */
  readonly input: number
  /** Asked for as the answer; null where it is not told apart. */
  readonly output: number | null
  readonly max: number
}

export interface FailureDetails {
  /** HTTP status of the upstream, when it answered. */
  readonly status?: number
  /** Whether the same call may succeed in a moment; never true after the first part. */
  readonly retryable?: boolean
  /** Wait the upstream asked for with `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number
  /** The upstream refused the request because it names tools. */
  readonly toolsRefused?: boolean
  /** The messages are longer than what the model can read. */
  readonly contextExceeded?: boolean
  readonly contextSize?: ContextSize | undefined
  /** What the upstream said, for those who can mend the channel. */
  readonly said?: string
  readonly cause?: unknown
}

/**
 * An upstream failed. Clients may see `reason`; `phrase` is a short sanitised description for
 * operators and the probe, such as `HTTP 429` or `connection failed`, and never holds upstream
 * text, a key or a URL.
 */
export class ChannelFailure extends Error {
  override readonly name = 'ChannelFailure'
  readonly status: number | null
  readonly retryable: boolean
  readonly retryAfterMs: number | null
  readonly toolsRefused: boolean
  readonly contextExceeded: boolean
  readonly contextSize: ContextSize | undefined
  /** Text of the upstream: it belongs in no log and in nothing that is stored. */
  declare readonly said: string

  constructor(
    readonly reason: FailureReason,
    readonly phrase: string,
    details: FailureDetails = {},
  ) {
    super(phrase, { cause: details.cause })
    this.status = details.status ?? null
    this.retryable = details.retryable ?? false
    this.retryAfterMs = details.retryAfterMs ?? null
    this.toolsRefused = details.toolsRefused ?? false
    this.contextExceeded = details.contextExceeded ?? false
    this.contextSize = details.contextSize
    // Out of sight of whatever prints an error with its fields.
    Object.defineProperty(this, 'said', { value: details.said ?? '', enumerable: false })
  }
}
