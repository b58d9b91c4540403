import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'

/** Failures in a row, all alike and within the window, after which a channel is skipped. */
export const BREAKER_FAILURES = 10
export const BREAKER_WINDOW_MS = 60_000
/** How long it is skipped before one call tries again. */
export const BREAKER_OPEN_MS = 15_000

export interface BreakerOptions {
  readonly clock: Clock
  /** Called when the channel begins to be skipped. */
  readonly onOpen?: (failure: ChannelFailure) => void
}

export interface Breaker extends Llm {
  /** The channel itself, never skipped. */
  readonly inner: Llm
  /** The channel was seen working: it is used again. */
  reset(): void
}

/**
 * Skips a channel that keeps failing in one and the same way, so that not every turn pays for its
 * retries: calls then fail at once with the reason of the last failure. After `BREAKER_OPEN_MS` one
 * call at a time tries again, and its end decides. A refusal (4xx) costs no time and may be the
 * fault of one request, so it does not count.
 */
export function breaker(llm: Llm, options: BreakerOptions): Breaker {
  const circuit = createCircuit(options)

  // Written out, because a second generator around the first would cost every token.
  function stream(request: LlmRequest, signal: AbortSignal): AsyncIterable<readonly LlmPart[]> {
    let inner: AsyncIterator<readonly LlmPart[]> | null = null
    let call: ReturnType<typeof circuit.admit> | null = null
    return {
      [Symbol.asyncIterator]: () => ({
        next() {
          try {
            call ??= circuit.admit()
          } catch (error) {
            return Promise.reject(error)
          }
          const { succeeded, failed, left } = call
          inner ??= llm.stream(request, signal)[Symbol.asyncIterator]()
          const item = inner.next()
          item.then(
            ({ done }) => done && succeeded(),
            (error: unknown) => (signal.aborted ? left() : failed(error)),
          )
          return item
        },
        async return() {
          call?.left()
          await inner?.return?.()
          return { done: true, value: undefined }
        },
      }),
    }
  }

  return { name: llm.name, inner: llm, stream, reset: circuit.reset }
}

/** Counts how calls end and says whether the next one may be made. */
function createCircuit({ clock, onOpen }: BreakerOptions) {
  let last: ChannelFailure | null = null
  let failures: number[] = []
  let openUntil: number | null = null
  let trial: object | null = null

  function reset() {
    last = null
    failures = []
    openUntil = null
  }

  function failed(error: unknown) {
    if (!(error instanceof ChannelFailure)) return
    if (!counts(error)) return reset()
    const now = clock.steady()
    // Calls that were on their way when the channel began to be skipped tell nothing new.
    if (openUntil !== null && now < openUntil) return
    const alike = last?.reason === error.reason && last.phrase === error.phrase
    failures = alike ? failures.filter((at) => now - at < BREAKER_WINDOW_MS) : []
    failures.push(now)
    last = error
    if (openUntil === null && failures.length < BREAKER_FAILURES) return
    openUntil = now + BREAKER_OPEN_MS
    onOpen?.(error)
  }

  /** Throws while the channel is skipped; else tells how this call ends. */
  function admit() {
    if (openUntil === null || last === null) return { failed, succeeded: reset, left: () => {} }
    if (trial !== null || clock.steady() < openUntil) {
      throw new ChannelFailure(last.reason, `skipped after ${last.phrase}`, { cause: last })
    }
    const mine = {}
    trial = mine
    const left = () => {
      if (trial === mine) trial = null
    }
    return {
      failed(error: unknown) {
        left()
        failed(error)
      },
      succeeded() {
        left()
        reset()
      },
      left,
    }
  }

  return { admit, reset }
}

const counts = ({ reason }: ChannelFailure) =>
  reason === 'retry_exhausted' || reason === 'upstream_5xx' || reason === 'provider_error'
