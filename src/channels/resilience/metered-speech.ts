import type { Meters } from '../../core/meters.ts'
import type { Asr } from '../ports/asr.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Tts } from '../ports/tts.ts'

/** The same voice; what its upstream fails to do is counted. */
export function watchTts(tts: Tts, meters: Meters): Tts {
  const count = counting('tts', meters)
  return {
    name: tts.name,
    textCharsMax: tts.textCharsMax,
    async speak(request, signal) {
      const { rate, chunks } = await count(signal, () => tts.speak(request, signal))
      return { rate, chunks: counted(chunks, signal) }
    },
  }

  async function* counted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    try {
      yield* chunks
    } catch (error) {
      await count(signal, () => Promise.reject(error))
    }
  }
}

/** The same recogniser; what its upstream fails to do is counted. */
export function watchAsr(asr: Asr, meters: Meters): Asr {
  const count = counting('asr', meters)
  return {
    name: asr.name,
    transcribe: (clip, signal) => count(signal, () => asr.transcribe(clip, signal)),
  }
}

/** Runs `work` and counts its failure, unless it was the caller who gave up. */
function counting(upstream: string, meters: Meters) {
  return async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (!signal.aborted && error instanceof ChannelFailure) {
        meters.upstreamFailed(upstream, error.reason)
      }
      throw error
    }
  }
}
