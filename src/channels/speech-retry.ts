import type { Clock } from '../core/clock.ts'
import type { Asr } from './asr.ts'
import { ChannelFailure } from './failure.ts'
import type { Tts } from './tts.ts'

const BACK_OFF_MS = [250, 1_000]
const RETRY_AFTER_MS_MAX = 5_000

/** Asks again, twice, when a synthesis could not begin; what has begun is never begun again. */
export function retryTts(tts: Tts, clock: Clock): Tts {
  return {
    ...tts,
    speak: (request, signal) => again(() => tts.speak(request, signal), clock, signal),
  }
}

/** Asks again, twice: recognising the same recording again does no harm. */
export function retryAsr(asr: Asr, clock: Clock): Asr {
  return {
    ...asr,
    transcribe: (clip, signal) => again(() => asr.transcribe(clip, signal), clock, signal),
  }
}

/** Waits longer when the upstream asked for it, but not for long: a person is waiting too. */
async function again<T>(work: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (const backOffMs of BACK_OFF_MS) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ChannelFailure) || !error.retryable) throw error
      const asked = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)
      await clock.sleep(Math.max(backOffMs, asked), signal)
    }
  }
  return work()
}
