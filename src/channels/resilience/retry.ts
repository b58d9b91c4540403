import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'

export interface RetryOptions {
  readonly clock: Clock
}

type Parts = readonly LlmPart[]

const BACK_OFF_MS = [250, 1000]
const RETRY_AFTER_MS_MAX = 5000

/**
 * How long to wait before asking again, or null when that is no use; `attempt` counts from 0. A
 * longer `Retry-After` than 5 s is waited for 5 s only: the person is waiting too.
 */
export function backOff(error: unknown, attempt: number): number | null {
  const leastMs = BACK_OFF_MS[attempt]
  if (leastMs === undefined || !(error instanceof ChannelFailure) || !error.retryable) return null
  return Math.max(leastMs, Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
}

/**
 * Asks again, twice, when a model could not be reached or was busy (contract, section 4, "BYO
 * reasons"); never once a part is out.
 */
export function retry(llm: Llm, options: RetryOptions): Llm {
  return {
    name: llm.name,
    stream: (request, signal) => new RetriedStream(llm, options, request, signal),
  }
}

/** Written out, because a second generator around the first would cost every token. */
class RetriedStream implements AsyncIterableIterator<Parts, undefined> {
  readonly #llm: Llm
  readonly #options: RetryOptions
  readonly #request: LlmRequest
  readonly #signal: AbortSignal
  #inner: AsyncIterator<Parts> | null = null

  constructor(llm: Llm, options: RetryOptions, request: LlmRequest, signal: AbortSignal) {
    this.#llm = llm
    this.#options = options
    this.#request = request
    this.#signal = signal
  }

  [Symbol.asyncIterator]() {
    return this
  }

  next(): Promise<IteratorResult<Parts>> {
    return this.#inner === null ? this.#begin() : this.#inner.next()
  }

  async return(): Promise<IteratorResult<Parts, undefined>> {
    await this.#inner?.return?.()
    return { done: true, value: undefined }
  }

  /** The first parts; the iterator that gave them has the rest. */
  async #begin(attempt = 0): Promise<IteratorResult<Parts>> {
    const { clock } = this.#options
    const inner = this.#llm.stream(this.#request, this.#signal)[Symbol.asyncIterator]()
    try {
      const first = await inner.next()
      this.#inner = inner
      return first
    } catch (error) {
      const waitMs = backOff(error, attempt)
      if (waitMs === null) throw error
      await clock.sleep(waitMs, this.#signal)
    }
    return this.#begin(attempt + 1)
  }
}
