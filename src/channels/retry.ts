import type { Clock } from '../core/clock.ts'
import { ChannelFailure } from './failure.ts'
import type { Llm, LlmPart, LlmRequest } from './llm.ts'

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
export function retry(llm: Llm, { clock }: RetryOptions): Llm {
  /** The first parts, and the iterator that has the rest. */
  async function begin(
    request: LlmRequest,
    signal: AbortSignal,
    attempt = 0,
  ): Promise<{ first: IteratorResult<Parts>; rest: AsyncIterator<Parts> }> {
    const rest = llm.stream(request, signal)[Symbol.asyncIterator]()
    try {
      return { first: await rest.next(), rest }
    } catch (error) {
      const waitMs = backOff(error, attempt)
      if (waitMs === null) throw error
      await clock.sleep(waitMs, signal)
    }
    return begin(request, signal, attempt + 1)
  }

  // Written out, because a second generator around the first would cost every token.
  function stream(request: LlmRequest, signal: AbortSignal): AsyncIterable<Parts> {
    let inner: AsyncIterator<Parts> | null = null
    async function start(): Promise<IteratorResult<Parts>> {
      const { first, rest } = await begin(request, signal)
      inner = rest
      return first
    }
    const iterator: AsyncIterator<Parts> = {
      next: () => (inner === null ? start() : inner.next()),
      async return() {
        await inner?.return?.()
        return { done: true, value: undefined }
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  return { name: llm.name, stream }
}
