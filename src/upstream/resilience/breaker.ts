import type { Clock } from '../../core/clock.ts'
import type { Reranker } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm, LlmRequest, LlmStream } from '../ports/llm.ts'

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
  /** The channel works again and is used again. */
  reset(): void
}

/**
 * Skips a channel that keeps failing in the same way, so that not every turn waits for its retries:
 * calls then fail at once with the reason of the last failure. After `BREAKER_OPEN_MS` one call at
 * a time tries again, and its result decides. A 4xx of the upstream costs no time and may be the
 * fault of one request, so it does not count.
 */
export function breaker(llm: Llm, options: BreakerOptions): Breaker {
  const circuit = createCircuit(options)

  async function open(request: LlmRequest, signal: AbortSignal): Promise<LlmStream> {
    const call = circuit.admit()
    try {
      return watched(await llm.open(request, signal), call, signal)
    } catch (error) {
      if (signal.aborted) call.left()
      else call.failed(error)
      throw error
    }
  }

  return { name: llm.name, inner: llm, open, reset: circuit.reset }
}

/** Skips a reranker in the same way: with a dead one each search would wait for its time limit. */
export function rerankerBreaker(reranker: Reranker, options: BreakerOptions): Reranker {
  const circuit = createCircuit(options)
  return {
    async rank(question, texts, signal) {
      const call = circuit.admit()
      try {
        const order = await reranker.rank(question, texts, signal)
        call.succeeded()
        return order
      } catch (error) {
        if (signal?.aborted) call.left()
        else call.failed(error)
        throw error
      }
    },
  }
}

/** The same stream; reports its end to `call`. */
async function* watched(stream: LlmStream, call: AdmittedCall, signal: AbortSignal) {
  try {
    yield* stream
    call.succeeded()
  } catch (error) {
    if (!signal.aborted) call.failed(error)
    throw error
  } finally {
    call.left()
  }
}

/** One call that may be made, and how it ends. */
interface AdmittedCall {
  succeeded(): void
  failed(error: unknown): void
  /** The client disconnected, or the end was reported already. */
  left(): void
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
    // Ignore calls that started before the breaker opened.
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
  function admit(): AdmittedCall {
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
