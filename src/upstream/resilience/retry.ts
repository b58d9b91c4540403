import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm } from '../ports/llm.ts'
import type { Asr, Tts } from '../ports/speech.ts'

const BACK_OFF_MS = [250, 1000]
const RETRY_AFTER_MS_MAX = 5000

/**
 * Runs `work`, and again at most twice when an upstream could not be reached or was busy. `work`
 * must settle before any part of its answer is passed on. No other place sends the
 * same request of a model or of speech again; adapters send another one, with fewer fields.
 */
export async function retry<Result>(
  work: () => Promise<Result>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const waitMs = backOff(error, attempt)
      if (waitMs === null) throw error
      await clock.sleep(waitMs, signal)
    }
  }
}

/**
 * How long to wait before the next attempt; null when there is none. A `Retry-After` of more than 5
 * s is cut to 5 s, because a person is waiting.
 */
function backOff(error: unknown, attempt: number): number | null {
  const leastMs = BACK_OFF_MS[attempt]
  if (leastMs === undefined || !(error instanceof ChannelFailure) || !error.retryable) return null
  return Math.max(leastMs, Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
}

/** Calls the model again while no answer has begun. */
export const retryLlm = (llm: Llm, clock: Clock): Llm => ({
  name: llm.name,
  open: (request, signal) => retry(() => llm.open(request, signal), clock, signal),
})

/** Synthesizes again while no sound has begun. */
export const retryTts = (tts: Tts, clock: Clock): Tts => ({
  ...tts,
  speak: (request, signal) => retry(() => tts.speak(request, signal), clock, signal),
})

/** Recognises again: the same recording twice does no harm. */
export const retryAsr = (asr: Asr, clock: Clock): Asr => ({
  ...asr,
  transcribe: (clip, signal, hints) =>
    retry(() => asr.transcribe(clip, signal, hints), clock, signal),
})
