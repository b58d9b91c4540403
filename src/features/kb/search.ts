import type { Embedder } from '../../channels/ports/embedder.ts'
import { KB_HITS_MAX } from '../../core/limits/contract.ts'
import { KB_QUERY_CHARS_MAX } from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import { dot } from '../../core/vector.ts'
import type { VectorIndex } from '../../storage/vectors.ts'
import type { WordIndex } from '../../storage/words.ts'
import { passageText } from './passage.ts'
import { fuse } from './rank.ts'
import type { FoundChunk, KbStore } from './store.ts'
import { queryTerms } from './terms.ts'

/** Candidates of each leg. */
const LEG_CANDIDATES = 50

export interface ScoredChunk extends FoundChunk {
  /** Cosine similarity of question and chunk. */
  readonly score: number
}

export interface SearchParts {
  readonly store: KbStore
  readonly embedder: Embedder
  readonly vectors: VectorIndex
  readonly words: WordIndex
}

/**
 * Hybrid search: nearest vectors and matching words, fused; the best few in descending order of
 * cosine, which is the score that is told. Throws what the embedder throws.
 */
export function createSearch({ store, embedder, vectors, words }: SearchParts) {
  return async function search(
    tenantId: string,
    question: string,
    signal?: AbortSignal,
  ): Promise<ScoredChunk[]> {
    const text = firstChars(question, KB_QUERY_CHARS_MAX)
    const space = { tenantId, model: embedder.id }
    const [query] = await embedder.embed([text], 'query', signal)
    if (!query) return []
    const [byWord, byVector] = await Promise.all([
      words.search(tenantId, queryTerms(text), LEG_CANDIDATES),
      isZero(query) ? [] : vectors.search(space, query, LEG_CANDIDATES),
    ])
    const keys = fuse(byWord, byVector).slice(0, KB_HITS_MAX)
    const chunks = await store.found(tenantId, keys)
    const scores = await scoresOf(chunks, query)
    return chunks
      .map((chunk) => ({ ...chunk, score: scores.get(chunk.key) ?? 0 }))
      .sort((a, b) => b.score - a.score || keys.indexOf(a.key) - keys.indexOf(b.key))

    async function scoresOf(
      found: readonly FoundChunk[],
      query: Float32Array,
    ): Promise<Map<number, number>> {
      const cosines = new Map(byVector.map(({ key, cosine }) => [key, cosine]))
      const missing = found.filter(({ key }) => !cosines.has(key))
      if (missing.length === 0) return cosines
      const wanted = missing.map(({ key }) => key)
      for (const { key, cosine } of await vectors.cosines(space, query, wanted)) {
        cosines.set(key, cosine)
      }
      // No vector of this model yet: the document waits to be embedded anew.
      const unknown = missing.filter(({ key }) => !cosines.has(key))
      if (unknown.length === 0) return cosines
      const texts = unknown.map(({ title, text }) => passageText(title, text))
      const fresh = await embedder.embed(texts, 'passage', signal)
      for (const [i, { key }] of unknown.entries()) {
        const vector = fresh[i]
        if (vector) cosines.set(key, dot(query, vector))
      }
      return cosines
    }
  }
}

const isZero = (vector: Float32Array) => vector.every((x) => x === 0)
