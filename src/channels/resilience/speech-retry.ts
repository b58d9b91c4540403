import type { Clock } from '../../core/clock.ts'
import type { Asr } from '../ports/asr.ts'
import type { Tts } from '../ports/tts.ts'
import { backOff } from './retry.ts'

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

/** By the rule of chat (contract, section 4, "BYO reasons"). */
async function again<T>(work: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
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
