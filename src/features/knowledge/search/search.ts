import { KB_HITS_MAX, KB_SCORE_MIN } from '../../../core/limits/contract.ts'
import { KB_QUERY_CHARS_MAX } from '../../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import type { Meters } from '../../../core/meters.ts'
import { createHanShare, firstChars } from '../../../core/text.ts'
import type { Reranker } from '../../../upstream/ports/embedder.ts'
import { ChannelFailure } from '../../../upstream/ports/failure.ts'
import { indexTextOf } from '../index/index-text.ts'
import type { Passage } from '../index/store.ts'
import { type Candidate, type CandidateParts, createCandidates } from './candidates.ts'
import { withoutStopWords } from './terms.ts'

/** Passages that a reranker gets, the best ones. */
const RERANKED_MAX = 20
/** Passages whose words are compared with the question's: the best by cosine and coverage. */
const COMPARED_MAX = 30

export interface FoundPassage extends Passage {
  /** The cosine on the scale that people see. */
  readonly score: number
  /** A turn shows the passage from 0.45 on. */
  readonly relevance: number
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
    tenantId: string,
    question: string,
    signal?: AbortSignal,
    hitsMax = KB_HITS_MAX,
  ): Promise<Found> {
    const text = firstChars(question, KB_QUERY_CHARS_MAX)
    const { passages } = await store.size(tenantId)
    const context: SearchContext = { passages, hanShare: hanShare(text) }
    const candidates = await candidatesOf(tenantId, text, signal)
    const compared = candidates
      .map((candidate) => ({ ...candidate, evidence: evidenceOf(candidate) }))
      .toSorted(byRelevance(({ evidence }) => relevance({ ...evidence, words: null }, context)))
      .slice(0, COMPARED_MAX)
    const texts = compared.map(({ passage }) => indexTextOf(passage))
    const { shared } = embedding.current
    const words = await shared.wordSimilarities(tenantId, withoutStopWords(text), texts, signal)
    const ranked = compared
      .map(({ passage, score, evidence }, i) => {
        const whole = { ...evidence, words: words?.[i] ?? null }
        return { ...passage, score, relevance: relevance(whole, context) }
      })
      .toSorted(byRelevance((found) => found.relevance))
    const best = ranked.slice(0, RERANKED_MAX)
    const order = await rerank(parts, text, best.map(indexTextOf), signal)
    if (order === null) return { passages: ranked.slice(0, hitsMax), isReranked: false }
    const chosen = new Set(order.flatMap((at) => best[at] ?? []))
    for (const passage of best) chosen.add(passage)
    return { passages: [...chosen].slice(0, hitsMax), isReranked: true }

    function evidenceOf({ passage, cosine, score, coverage }: Candidate): Evidence {
      const apart = Math.abs(context.hanShare - hanShare(indexTextOf(passage)))
      const known = cosine ?? cosineAtThreshold(context, score - KB_SCORE_MIN)
      return { cosine: known, coverage, apart, words: null }
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

const byRelevance =
  <Ranked>(relevanceOf: (one: Ranked) => number) =>
  (a: Ranked, b: Ranked) =>
    relevanceOf(b) - relevanceOf(a)

/** The measures by which the relevance of a passage to a question is computed. */
export interface Evidence {
  /** Cosine of the vectors of question and passage, on the scale of the shipped model. */
  readonly cosine: number
  /** How much of the question's words the passage holds, 0 to 1: its BM25 over the best one. */
  readonly coverage: number
  /** How well it matches them by meaning, 0 to 1; null when the model cannot tell. */
  readonly words: number | null
  /** How far the scripts of question and passage differ, 0 to 1. */
  readonly apart: number
}

/** The inputs of relevance that are the same for all passages of a question. */
export interface SearchContext {
  /** How many passages the tenant has. */
  readonly passages: number
  /** How much of the question is written in Chinese characters, 0 to 1. */
  readonly hanShare: number
}

/**
 * Fitted by logistic regression on the even questions of the retrieval sample and of
 * test/fixtures/everyday, among 4 to 600 passages, and checked on the odd ones. At the threshold
 * nine of ten right passages are shown. Weights of words from 0.3 to 1 rank equally well, within
 * noise.
 */
const WITH_WORDS = {
  coverage: 0.6,
  words: 0.7,
  /** Compensates for two languages, which share no words and whose vectors are less near. */
  apart: 0.19,
  steepness: 10.3,
  threshold: 0.322,
  /** Raises the threshold with the number of passages: the best of many wrong ones is nearer. */
  perLogPassages: 0.056,
  /** The same in addition for Chinese texts, which share characters by chance. */
  chinesePerLog: 0.018,
}
const WITHOUT_WORDS: typeof WITH_WORDS = {
  coverage: 0.8,
  words: 0,
  apart: 0.13,
  steepness: 15.6,
  threshold: 0.04,
  perLogPassages: 0.058,
  chinesePerLog: 0.0035,
}
/** The threshold does not rise beyond the measured number of passages. */
const PASSAGES_MAX = 2_000

/** How relevant a passage is, from 0 to 1; a turn shows it from 0.45 on. */
function relevance(evidence: Evidence, context: SearchContext): number {
  const fit = evidence.words === null ? WITHOUT_WORDS : WITH_WORDS
  const sum =
    evidence.cosine +
    fit.coverage * evidence.coverage +
    fit.words * (evidence.words ?? 0) +
    fit.apart * evidence.apart
  return logistic(fit.steepness * (sum - thresholdOf(fit, context)) + logit(KB_SCORE_MIN))
}

function thresholdOf(fit: typeof WITH_WORDS, { passages, hanShare }: SearchContext): number {
  const count = Math.min(PASSAGES_MAX, Math.max(1, passages))
  return fit.threshold + (fit.perLogPassages + fit.chinesePerLog * hanShare) * Math.log(count)
}

/** The cosine `above` the threshold with no word in common: for models without calibration. */
const cosineAtThreshold = (context: SearchContext, above: number): number =>
  thresholdOf(WITHOUT_WORDS, context) + above

const logistic = (x: number) => 1 / (1 + Math.exp(-x))
const logit = (p: number) => Math.log(p / (1 - p))
