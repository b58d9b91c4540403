import type { Neighbour } from '../../storage/vectors.ts'
import type { WordMatch } from '../../storage/words.ts'

/**
 * Reciprocal-rank fusion (Cormack and others, 2009) of the two legs of a search. The word leg
 * counts for as much as the match covers of the question, because a list of passages that share one
 * common word with a question in another language has ranks, too. Tuned on question sets, with
 * scripts/bench/retrieval.ts.
 */
const WORDS_WEIGHT = 4
const RANK_OFFSET = 10

/** Keys of both legs, best first. */
export function fuse(words: readonly WordMatch[], vectors: readonly Neighbour[]): number[] {
  const scores = new Map<number, number>()
  const add = (key: number, score: number) => scores.set(key, (scores.get(key) ?? 0) + score)
  for (const [rank, { key, coverage }] of words.entries()) {
    add(key, (WORDS_WEIGHT * coverage) / (RANK_OFFSET + rank))
  }
  for (const [rank, { key }] of vectors.entries()) add(key, 1 / (RANK_OFFSET + rank))
  return [...scores].sort(([a, x], [b, y]) => y - x || a - b).map(([key]) => key)
}
