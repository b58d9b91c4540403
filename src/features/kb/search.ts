import { KB_HITS_MAX } from '../../core/limits/contract.ts'
import { KB_QUERY_CHARS_MAX } from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import { dot } from '../../core/vector.ts'
import type { Neighbour, VectorIndex, WordIndex, WordMatch } from '../../storage/indexes.ts'
import type { SharedEmbedder } from './embedding.ts'
import { indexTextOf } from './index-text.ts'
import type { KbStore, Passage } from './store.ts'
import { queryTerms } from './terms.ts'

/** Candidates of each leg. */
const LEG_CANDIDATES = 50
/** More vectors than are used, because their scores may have another order than their cosines. */
const NEIGHBOURS = 2 * LEG_CANDIDATES

/**
 * Reciprocal-rank fusion (Cormack and others, 2009) of the two legs of a search. The word leg
 * counts for as much as the match covers of the question, because a list of chunks that share one
 * common word with a question in another language has ranks, too. Tuned on question sets, with
 * scripts/bench/retrieval.ts.
 */
const WORDS_WEIGHT = 4
const RANK_OFFSET = 10

export interface ScoredPassage extends Passage {
  readonly score: number
}

export interface SearchParts {
  readonly store: KbStore
  readonly embedder: SharedEmbedder
  readonly vectors: VectorIndex
  readonly words: WordIndex
}

/**
 * Hybrid search: nearest vectors and matching words, fused; the best few passages in descending
 * order of their score. Throws what the embedder throws.
 */
export function createSearch({ store, embedder, vectors, words }: SearchParts) {
  return async function search(
    tenantId: string,
    question: string,
    signal?: AbortSignal,
    hitsMax = KB_HITS_MAX,
  ): Promise<ScoredPassage[]> {
    const text = firstChars(question, KB_QUERY_CHARS_MAX)
    const space = { tenantId, model: embedder.id }
    const [query] = await embedder.embedForSearch(tenantId, [text], 'query', signal)
    // A text without a word that the model knows is near to nothing.
    const vector = query?.some((x) => x !== 0) ? query : null
    const passages = new Map<number, Passage>()
    const scores = new Map<number, number>()
    const [byWord] = await Promise.all([
      words.search(tenantId, queryTerms(text), LEG_CANDIDATES, signal),
      vector ? scoreNeighbours(vector) : null,
    ])
    const byVector = [...scores.keys()].sort((a, b) => scoreOf(b) - scoreOf(a))
    const keys = fuse(byWord, byVector.slice(0, LEG_CANDIDATES)).slice(0, hitsMax)
    await load(keys)
    const best = keys.flatMap((key) => passages.get(key) ?? [])
    if (vector) await scoreTheRest(vector, best)
    return best
      .map((passage) => ({ ...passage, score: scoreOf(passage.key) }))
      .sort((a, b) => b.score - a.score)

    async function load(wanted: readonly number[]): Promise<void> {
      const missing = wanted.filter((key) => !passages.has(key))
      if (missing.length === 0) return
      const found = await store.passages(tenantId, missing, signal)
      for (const passage of found) passages.set(passage.key, passage)
    }

    async function scoreNeighbours(question: Float32Array): Promise<void> {
      const near = await vectors.search(space, question, NEIGHBOURS, signal)
      await load(near.map(({ key }) => key))
      addScores(near)
    }

    function scoreOf(key: number): number {
      return scores.get(key) ?? 0
    }

    function addScores(cosines: readonly Neighbour[]): void {
      for (const { key, cosine } of cosines) {
        const passage = passages.get(key)
        if (passage) scores.set(key, embedder.score(cosine, text, indexTextOf(passage)))
      }
    }

    /** Those that only their words found. */
    async function scoreTheRest(question: Float32Array, found: readonly Passage[]) {
      const missing = () => found.filter(({ key }) => !scores.has(key))
      const wanted = missing().map(({ key }) => key)
      if (wanted.length > 0) addScores(await vectors.cosines(space, question, wanted, signal))
      // No vector of this model yet: the document waits to be embedded again.
      const unknown = missing()
      if (unknown.length === 0) return
      const texts = unknown.map(indexTextOf)
      const fresh = await embedder.embedForSearch(tenantId, texts, 'passage', signal)
      addScores(
        unknown.flatMap(({ key }, i) => {
          const one = fresh[i]
          return one?.some((x) => x !== 0) ? [{ key, cosine: dot(question, one) }] : []
        }),
      )
    }
  }
}

/** Keys of both legs, best first. */
function fuse(words: readonly WordMatch[], vectors: readonly number[]): number[] {
  const sums = new Map<number, number>()
  const add = (key: number, gain: number) => sums.set(key, (sums.get(key) ?? 0) + gain)
  for (const [rank, { key, coverage }] of words.entries()) {
    add(key, (WORDS_WEIGHT * coverage) / (RANK_OFFSET + rank))
  }
  for (const [rank, key] of vectors.entries()) add(key, 1 / (RANK_OFFSET + rank))
  return [...sums].sort(([a, x], [b, y]) => y - x || a - b).map(([key]) => key)
}
