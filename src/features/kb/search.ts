import { createHanShare } from '../../core/han-share.ts'
import { KB_HITS_MAX, KB_SCORE_MIN } from '../../core/limits/contract.ts'
import { KB_QUERY_CHARS_MAX } from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import { type Candidate, type CandidateParts, createCandidates } from './candidates.ts'
import { indexTextOf } from './index-text.ts'
import { tellingPart } from './question.ts'
import { type Asked, cosineAtLine, type Evidence, relevance } from './relevance.ts'
import type { Passage } from './store.ts'

/** The best passages, which a reranker puts in order (contract 2, section 6). */
const RERANKED_MAX = 20
/** Passages whose words are compared with the question's, the best by cosine and coverage. */
const COMPARED_MAX = 30

export interface FoundPassage extends Passage {
  /** The cosine, as people are told it. */
  readonly score: number
  /** From 0.45 on it is shown. */
  readonly relevance: number
}

export interface Found {
  readonly passages: readonly FoundPassage[]
  /** They are in the order of the reranker. */
  readonly isReranked: boolean
}

export interface SearchParts extends CandidateParts {
  /** Puts texts in order; null where there is no reranker, or when it fails. */
  readonly rerank: (
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ) => Promise<readonly number[] | null>
}

/**
 * Hybrid search in four steps: both indexes name candidates; cosine and coverage choose the best of
 * them; their words are compared with the question's; the sum of all three ranks. The most relevant
 * passages, best first; a reranker, where there is one, puts them in its own order. Throws what the
 * embedder throws.
 */
export function createSearch(parts: SearchParts) {
  const { store, embedderNow, rerank } = parts
  const candidatesOf = createCandidates(parts)
  const hanShare = createHanShare()

  return async function search(
    tenantId: string,
    question: string,
    signal?: AbortSignal,
    hitsMax = KB_HITS_MAX,
  ): Promise<Found> {
    const text = firstChars(question, KB_QUERY_CHARS_MAX)
    const { passages } = await store.size(tenantId)
    const asked: Asked = { passages, hanShare: hanShare(text) }
    const candidates = await candidatesOf(tenantId, text, signal)
    const compared = candidates
      .map((candidate) => ({ ...candidate, evidence: evidenceOf(candidate) }))
      .toSorted(byRelevance(({ evidence }) => relevance({ ...evidence, words: null }, asked)))
      .slice(0, COMPARED_MAX)
    const texts = compared.map(({ passage }) => indexTextOf(passage))
    const words = await embedderNow().wordSimilarities(tenantId, tellingPart(text), texts, signal)
    const ranked = compared
      .map(({ passage, score, evidence }, i) => {
        const whole = { ...evidence, words: words?.[i] ?? null }
        return { ...passage, score, relevance: relevance(whole, asked) }
      })
      .toSorted(byRelevance((found) => found.relevance))
    const best = ranked.slice(0, RERANKED_MAX)
    const order = await rerank(text, best.map(indexTextOf), signal)
    if (order === null) return { passages: ranked.slice(0, hitsMax), isReranked: false }
    const chosen = new Set(order.flatMap((at) => best[at] ?? []))
    for (const passage of best) chosen.add(passage)
    return { passages: [...chosen].slice(0, hitsMax), isReranked: true }

    function evidenceOf({ passage, cosine, score, coverage }: Candidate): Evidence {
      const apart = Math.abs(asked.hanShare - hanShare(indexTextOf(passage)))
      const known = cosine ?? cosineAtLine(asked, score - KB_SCORE_MIN)
      return { cosine: known, coverage, apart, words: null }
    }
  }
}

const byRelevance =
  <Ranked>(relevanceOf: (one: Ranked) => number) =>
  (a: Ranked, b: Ranked) =>
    relevanceOf(b) - relevanceOf(a)
