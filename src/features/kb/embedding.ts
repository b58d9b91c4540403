import type { Embedder, EmbedKind } from '../../channels/ports/embedder.ts'
import { ChannelFailure } from '../../channels/ports/failure.ts'
import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { KB_QUERY_MS_MAX, KB_QUERY_WAIT_MS_MAX } from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { timeSlice } from '../../core/time-slice.ts'
import { termsOf } from './terms.ts'

/** Calls at a time to an embedder that does not say how many it works on. */
const AT_ONCE = { query: 64, passage: 8 }
/** Texts of one call: beside other tenants' documents, one advances by so many chunks a turn. */
const CALL_TEXTS = 8

/** What both indexes hold of a chunk. */
export interface ChunkIndex {
  readonly vector: Float32Array
  readonly terms: readonly string[]
}

export type SharedEmbedder = ReturnType<typeof createSharedEmbedder>

/**
 * The embedder, shared by all tenants: its calls go to them in turn, those of searches and those of
 * documents each in a line of their own. A tenant that is alone uses all of it.
 */
export function createSharedEmbedder(embedder: Embedder, clock: Clock) {
  const slots = embedder.atOnce ?? AT_ONCE
  const searches = createSemaphore({ slots: slots.query })
  const documents = createSemaphore({ slots: slots.passage })

  async function embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal) {
    const vectors = await embedder.embed(texts, kind, signal)
    if (vectors.length === texts.length) return vectors
    throw new ChannelFailure('channel_unavailable', 'a vector is missing')
  }

  return {
    id: embedder.id,

    /** The score that people are told of a cosine. */
    score: (cosine: number, question: string, text: string): number =>
      embedder.score ? embedder.score(cosine, question, text) : cosine,

    /**
     * For a search, which somebody waits for: rejects when the embedder takes too long. That time
     * begins with the call; the wait for its turn in a burst of searches has a longer one.
     */
    async embedForSearch(
      tenantId: string,
      texts: readonly string[],
      kind: EmbedKind,
      signal?: AbortSignal,
    ): Promise<Float32Array[]> {
      const late = new AbortController()
      const giveUp = () => {
        late.abort(new ChannelFailure('channel_unavailable', 'retrieval took too long'))
      }
      const until = signal ? AbortSignal.any([signal, late.signal]) : late.signal
      let stop = clock.after(KB_QUERY_WAIT_MS_MAX, giveUp)
      const work = () => {
        stop()
        stop = clock.after(KB_QUERY_MS_MAX, giveUp)
        return embed(texts, kind, until)
      }
      return await searches.run(tenantId, work, until).finally(() => stop())
    },

    /** What both indexes hold of a document's chunks; calls for one document go side by side. */
    async indexChunks(
      tenantId: string,
      texts: readonly string[],
      signal?: AbortSignal,
    ): Promise<ChunkIndex[]> {
      const failed = new AbortController()
      const until = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
      const calls = Array.from({ length: Math.ceil(texts.length / CALL_TEXTS) }, (_, i) => {
        const some = texts.slice(i * CALL_TEXTS, (i + 1) * CALL_TEXTS)
        return documents.run(tenantId, () => embed(some, 'passage', until), until)
      })
      const vectors = await Promise.all(calls).catch((error: unknown) => {
        failed.abort(error)
        throw error
      })
      const slice = timeSlice(clock.steady)
      const indexed: ChunkIndex[] = []
      for (const [i, vector] of vectors.flat().entries()) {
        indexed.push({ vector, terms: termsOf(texts[i] ?? '') })
        if (slice.isOver()) await slice.next()
      }
      return indexed
    },
  }
}

/** Settles like `work`; a failure of the embedder becomes a 502. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error
    throw appError('embedding_unavailable', {}, { cause: error })
  }
}
