import type { Meters } from '../../core/meters.ts'
import type { Embedder } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Asr, Tts } from '../ports/speech.ts'

/** The state of an embedder, for operators. */
export interface EmbedderActivity {
  /** Texts that wait or are being embedded. */
  readonly pending: () => number
  /** How the last call ended; null when there was none yet. */
  readonly lastOk: () => boolean | null
}

/** Adds activity and a count of failures to an embedder. */
export function meterEmbedder(embedder: Embedder, meters: Meters): Embedder & EmbedderActivity {
  let pending = 0
  let lastOk: boolean | null = null
  return {
    ...embedder,
    pending: () => pending,
    lastOk: () => lastOk,
    async embed(texts, kind, signal, countTokens) {
      pending += texts.length
      try {
        const vectors = await embedder.embed(texts, kind, signal, countTokens)
        lastOk = true
        return vectors
      } catch (error) {
        if (!signal?.aborted) {
          lastOk = false
          const reason = error instanceof ChannelFailure ? error.reason : 'provider_error'
          meters.upstreamFailed('embedding', reason)
        }
        throw error
      } finally {
        pending -= texts.length
      }
    },
  }
}

/** Counts failures of a synthesis upstream. */
export function meterTts(tts: Tts, meters: Meters): Tts {
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

/** Counts failures of a recognition upstream. */
export function meterAsr(asr: Asr, meters: Meters): Asr {
  const count = counting('asr', meters)
  return {
    ...asr,
    transcribe: (clip, signal, hints) => count(signal, () => asr.transcribe(clip, signal, hints)),
  }
}

/** Runs `work` and counts its failure, unless the caller gave up. */
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
