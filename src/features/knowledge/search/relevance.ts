import { KB_SCORE_MIN } from '../../../core/limits/contract.ts'

/** The measures by which the relevance of a passage to a question is computed. */
export interface Evidence {
  /** Cosine of the vectors of question and passage, on the scale of the shipped model. */
  readonly cosine: number
  /** How much of the question's words the passage holds, 0 to 1: its BM25 over the best one. */
  readonly coverage: number
  /** How far the scripts of question and passage differ, 0 to 1. */
  readonly apart: number
}

export interface WordEvidence extends Evidence {
  /** How well the question's words match words of the passage by meaning, 0 to 1. */
  readonly words: number
  /** How much of the question the passage says in words of the other language, 0 to 1. */
  readonly translated: number
}

/** The inputs of relevance that are the same for all passages of a question. */
export interface SearchContext {
  /** How many passages the tenant has. */
  readonly passages: number
  /** How much of the question is written in Chinese characters, 0 to 1. */
  readonly hanShare: number
}

/** The number of passages raises the threshold no further than measured. */
const PASSAGES_MAX = 2_000
const logPassages = ({ passages }: SearchContext) =>
  Math.log(Math.min(PASSAGES_MAX, Math.max(1, passages)))

const logistic = (x: number) => 1 / (1 + Math.exp(-x))
/** Relevance is a probability on a scale on which the threshold of a shown passage is zero. */
const relevanceOf = (x: number) => logistic(x + Math.log(KB_SCORE_MIN / (1 - KB_SCORE_MIN)))

/** For models that cannot compare words. */
const ALONE = {
  coverage: 0.8,
  apart: 0.13,
  steepness: 15.6,
  threshold: 0.04,
  perLogPassages: 0.058,
  chinesePerLog: 0.0035,
}

/** Orders passages before their words are compared. */
export const roughSum = ({ cosine, coverage, apart }: Evidence): number =>
  cosine + ALONE.coverage * coverage + ALONE.apart * apart

const roughThreshold = (context: SearchContext): number =>
  ALONE.threshold +
  (ALONE.perLogPassages + ALONE.chinesePerLog * context.hanShare) * logPassages(context)

/** The cosine `above` the threshold with no word in common: for models without calibration. */
export const cosineAtThreshold = (context: SearchContext, above: number): number =>
  roughThreshold(context) + above

/** How relevant a passage is, from 0 to 1, where words cannot be compared. */
export const roughRelevance = (evidence: Evidence, context: SearchContext): number =>
  relevanceOf(ALONE.steepness * (roughSum(evidence) - roughThreshold(context)))

/**
 * Weights of a logistic regression for a question and a passage in one script and for two in
 * different ones, where words in common say little. They are fitted on the retrieval sample (200
 * questions, and their translations into the other language, among 490 to 1,180 passages) and on
 * test/fixtures/everyday (302 questions among 3 to 47), with and without the right passage. On
 * these the lines of one script let at most one in five questions without an answer show something
 * in each language, and that across scripts one in four or five. More weights told no more about
 * questions that they were not fitted on.
 */
interface Fit {
  readonly base: number
  readonly sum: number
  readonly above: number
  readonly perLogPassages: number
  /** Added to it for a question in Chinese: without an answer it is nearer to some passage. */
  readonly chinesePerLog: number
  /** Where many of the passages are in the script of the question, one of those likely answers. */
  readonly ownScript: number
}
const SAME: Fit = {
  base: -1.75,
  sum: 3,
  above: 5.5,
  perLogPassages: -0.37,
  chinesePerLog: -0.058,
  ownScript: 0,
}
const ACROSS: Fit = {
  base: -2.5,
  sum: 1.8,
  above: 6.5,
  perLogPassages: 0,
  chinesePerLog: 0,
  ownScript: -4.5,
}

type Sum = (evidence: WordEvidence) => number

/** Orders the passages of one script. Weights of words from 0.3 to 1.2 rank equally well. */
const sumOfSame: Sum = ({ cosine, coverage, words }) => cosine + 0.3 * coverage + 0.8 * words
/** Of another script: words in common tell nothing there, the lexicon does. */
const sumOfAcross: Sum = ({ cosine, words, translated }) => cosine + words + 0.4 * translated

/**
 * How relevant each of the passages that were found for a question is, from 0 to 1. Besides its own
 * evidence it counts how far the passage stands out from the others in its script, since all
 * passages of a tenant may be near to a question that none of them answers.
 */
export function relevances(all: readonly WordEvidence[], context: SearchContext): number[] {
  const isAcross = ({ apart }: WordEvidence) => apart > 0.5
  const same = all.filter((one) => !isAcross(one))
  const across = all.filter(isAcross)
  const ownShare = same.length / Math.max(1, all.length)
  const lineOf = (fit: Fit, sumOf: Sum): Sum => {
    const usual = { same: usualOf(same, sumOf), across: usualOf(across, sumOf) }
    const perLog = fit.perLogPassages + fit.chinesePerLog * context.hanShare
    const base = fit.base + perLog * logPassages(context) + fit.ownScript * ownShare
    return (one) => {
      const sum = sumOf(one)
      const above = sum - (isAcross(one) ? usual.across : usual.same)
      return base + fit.sum * sum + fit.above * above
    }
  }
  const ofSame = lineOf(SAME, sumOfSame)
  const ofAcross = lineOf(ACROSS, sumOfAcross)
  return all.map((one) => relevanceOf((1 - one.apart) * ofSame(one) + one.apart * ofAcross(one)))
}

/** Ranks of the passages whose mean is compared with: behind those that may all be right. */
const USUAL = { from: 3, to: 12 }

/** The mean sum of passages that are near to the question but hardly answer it. */
function usualOf(passages: readonly WordEvidence[], sumOf: Sum): number {
  const ranked = passages.map(sumOf).toSorted((a, b) => b - a)
  const few = Math.max(1, Math.floor(ranked.length / 3))
  const some = ranked.slice(ranked.length < USUAL.to ? few : USUAL.from, USUAL.to)
  return some.reduce((sum, one) => sum + one, 0) / Math.max(1, some.length)
}
