import { KB_SCORE_MIN } from '../../core/limits/contract.ts'

/** What speaks for a passage, as an answer to a question. */
export interface Evidence {
  /** Of the vectors of question and passage, on the scale of the shipped model. */
  readonly cosine: number
  /** How much of the question's words the passage holds, 0 to 1: its BM25 over the best one. */
  readonly coverage: number
  /** How well it holds them by their meaning, 0 to 1; null: the model cannot tell. */
  readonly words: number | null
  /** How far the scripts of question and passage differ, 0 to 1. */
  readonly apart: number
}

/** What holds for all passages of one question. */
export interface Asked {
  /** Passages of the tenant. */
  readonly passages: number
  /** How much of the question is written in Chinese characters, 0 to 1. */
  readonly hanShare: number
}

/**
 * Fitted by logistic regression on the even questions of the retrieval sample and of
 * test/fixtures/everyday, among 4 to 600 passages, and checked on the odd ones; the line lies where
 * nine of ten right passages are shown. Weights of words from 0.3 to 1 rank within noise of each
 * other.
 */
const WITH_WORDS = {
  coverage: 0.6,
  words: 0.7,
  /** Two languages share no words, and their vectors are less near: what that costs. */
  apart: 0.19,
  steepness: 10.3,
  line: 0.322,
  /** The best of many wrong passages comes nearer than the best of few. */
  perLogPassages: 0.056,
  /** The same, for Chinese texts more: they share characters by chance. */
  chinesePerLog: 0.018,
}
const WITHOUT_WORDS: typeof WITH_WORDS = {
  coverage: 0.8,
  words: 0,
  apart: 0.13,
  steepness: 15.6,
  line: 0.04,
  perLogPassages: 0.058,
  chinesePerLog: 0.0035,
}
/** Beyond what was measured the line rises no further. */
const PASSAGES_MAX = 2_000

/** How relevant a passage is, from 0 to 1; it is shown from 0.45 on, the specification's line. */
export function relevance(evidence: Evidence, asked: Asked): number {
  const fit = evidence.words === null ? WITHOUT_WORDS : WITH_WORDS
  const sum =
    evidence.cosine +
    fit.coverage * evidence.coverage +
    fit.words * (evidence.words ?? 0) +
    fit.apart * evidence.apart
  return logistic(fit.steepness * (sum - lineOf(fit, asked)) + logit(KB_SCORE_MIN))
}

function lineOf(fit: typeof WITH_WORDS, { passages, hanShare }: Asked): number {
  const count = Math.min(PASSAGES_MAX, Math.max(1, passages))
  return fit.line + (fit.perLogPassages + fit.chinesePerLog * hanShare) * Math.log(count)
}

/** The cosine that, with no word in common, lies `above` the line: for models not calibrated. */
export const cosineAtLine = (asked: Asked, above: number): number =>
  lineOf(WITHOUT_WORDS, asked) + above

const logistic = (x: number) => 1 / (1 + Math.exp(-x))
const logit = (p: number) => Math.log(p / (1 - p))
