import type { Meters } from '../../core/meters.ts'
import type { Embedder } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'

/** What an embedder is doing, for operators. */
export interface EmbedderActivity {
  /** Texts that wait or are being embedded now. */
  readonly pending: () => number
  /** How the last call ended; null when there was none yet. */
  readonly lastOk: () => boolean | null
}

/** The same embedder, watched. */
export function watchEmbedder(embedder: Embedder, meters: Meters): Embedder & EmbedderActivity {
  let pending = 0
  let lastOk: boolean | null = null
  return {
    ...embedder,
    pending: () => pending,
    lastOk: () => lastOk,
    async embed(texts, kind, signal) {
      pending += texts.length
      try {
        const vectors = await embedder.embed(texts, kind, signal)
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
