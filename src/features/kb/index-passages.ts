import type { Embedder } from '../../channels/ports/embedder.ts'
import { ChannelFailure } from '../../channels/ports/failure.ts'
import { termsOf } from './terms.ts'

/** Passages that are embedded and looked over before other requests get their turn. */
const SLICE = 8

export interface IndexedPassage {
  readonly vector: Float32Array
  readonly terms: readonly string[]
}

/**
 * What both indexes hold of passages; in slices, because looking words up takes this thread. Throws
 * what the embedder throws.
 */
export async function indexPassages(
  embedder: Embedder,
  passages: readonly string[],
  signal?: AbortSignal,
): Promise<IndexedPassage[]> {
  const indexed: IndexedPassage[] = []
  for (let from = 0; from < passages.length; from += SLICE) {
    const slice = passages.slice(from, from + SLICE)
    const vectors = await embedder.embed(slice, 'passage', signal)
    for (const [i, passage] of slice.entries()) {
      const vector = vectors[i]
      if (!vector) throw new ChannelFailure('channel_unavailable', 'a vector is missing')
      indexed.push({ vector, terms: termsOf(passage) })
    }
  }
  return indexed
}
