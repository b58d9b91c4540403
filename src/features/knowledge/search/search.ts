import { KB_HITS_MAX, KB_SCORE_MIN } from '../../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import type { Meters } from '../../../core/meters.ts'
import type { Question } from '../../../core/question.ts'
import { createHanShare } from '../../../core/text.ts'
import type { Reranker, WordSimilarity } from '../../../upstream/ports/embedder.ts'
import { ChannelFailure } from '../../../upstream/ports/failure.ts'
import type { KbView } from '../collections/access.ts'
import { indexTextOf } from '../index/index-text.ts'
import type { Passage } from '../index/passage-store.ts'
import { type Candidate, type CandidateParts, createCandidates } from './candidates.ts'
import {
  cosineAtThreshold,
  type Evidence,
  relevances,
  roughRelevance,
  roughSum,
  type SearchContext,
} from './relevance.ts'
import { withoutStopWords } from './terms.ts'

/** Passages that a reranker gets, the best ones. */
const RERANKED_MAX = 20
/** Passages whose words are compared with the question's: the best by cosine and coverage. */
const COMPARED_MAX = 50

export interface FoundPassage extends Passage {
  /** The cosine on the scale that people see. */
  readonly score: number
  /** A turn shows the passage from 0.45 on. */
  readonly relevance: number
  /** The sentence that matches the question best; null when the model cannot tell. */
  readonly sentence: string | null
}

export interface Found {
  readonly passages: readonly FoundPassage[]
  /** Whether the passages are in the order of the reranker. */
  readonly isReranked: boolean
}

export interface SearchParts extends CandidateParts {
  /** Null: the operator has configured none. */
  readonly reranker: { readonly current: Reranker | null }
  readonly meters: Pick<Meters, 'upstreamFailed'>
  readonly log: Logger
}

/**
 * Hybrid search in four steps: both indexes find candidates; cosine and coverage choose the best of
 * them; their words are compared with the question's; the sum of all three ranks them. Returns the
 * most relevant passages, best first, or in the order of a reranker where there is one. Throws what
 * the embedder throws.
 */
export function createSearch(parts: SearchParts) {
  const { store, embedding } = parts
  const candidatesOf = createCandidates(parts)
  const hanShare = createHanShare()

  return async function search(
    view: KbView,
    question: Question,
    signal?: AbortSignal,
    hitsMax = KB_HITS_MAX,
  ): Promise<Found> {
    const { text } = question
    const { tenantId } = view
    const { passages } = await store.size(view)
    const context: SearchContext = { passages, hanShare: hanShare(text) }
    const candidates = await candidatesOf(view, question, signal)
    const compared = candidates
      .map((candidate) => ({ ...candidate, evidence: evidenceOf(candidate) }))
      .toSorted((a, b) => roughSum(b.evidence) - roughSum(a.evidence))
      .slice(0, COMPARED_MAX)
    const texts = compared.map(({ passage }) => indexTextOf(passage))
    const { shared } = embedding.current
    const matches = await shared.wordSimilarities(tenantId, withoutStopWords(text), texts, signal)
    const relevant = matches
      ? relevances(compared.map(withWords), context)
      : compared.map(({ evidence }) => roughRelevance(evidence, context))
    const ranked = compared
      .map(({ passage, score }, i) => ({
        ...passage,
        score,
        relevance: relevant[i] ?? 0,
        sentence: sentenceOf(texts[i] ?? '', matches?.[i]),
      }))
      .toSorted((a, b) => b.relevance - a.relevance)
    const best = ranked.slice(0, RERANKED_MAX)
    const order = await rerank(parts, text, best.map(indexTextOf), signal)
    if (order === null) return { passages: ranked.slice(0, hitsMax), isReranked: false }
    const chosen = new Set(order.flatMap((at) => best[at] ?? []))
    for (const passage of best) chosen.add(passage)
    return { passages: [...chosen].slice(0, hitsMax), isReranked: true }

    function evidenceOf({ passage, cosine, score, coverage }: Candidate): Evidence {
      const apart = Math.abs(context.hanShare - hanShare(indexTextOf(passage)))
      const known = cosine ?? cosineAtThreshold(context, score - KB_SCORE_MIN)
      return { cosine: known, coverage, apart }
    }

    function withWords({ evidence }: { evidence: Evidence }, i: number) {
      const { whole = 0, translated = 0 } = matches?.[i] ?? {}
      return { ...evidence, words: whole, translated }
    }
  }
}

/**
 * The texts in the order of the reranker. Null where there is none, and when it fails: that is
 * counted, and the search goes on without it.
 */
async function rerank(
  { reranker, meters, log }: SearchParts,
  question: string,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<readonly number[] | null> {
  const { current } = reranker
  if (current === null || texts.length < 2) return null
  try {
    return await current.rank(question, texts, signal)
  } catch (error) {
    signal?.throwIfAborted()
    const reason = error instanceof ChannelFailure ? error.reason : 'provider_error'
    meters.upstreamFailed('rerank', reason)
    log.warn('reranking failed', errorFields(error))
    return null
  }
}

function sentenceOf(text: string, match: WordSimilarity | undefined): string | null {
  return match?.at ? text.slice(match.at.from, match.at.to).trim() : null
}
