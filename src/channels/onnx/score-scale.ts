import { createHanShare } from '../../core/text.ts'
import type { Embedder } from '../ports/embedder.ts'

/** The score from which the specification shows a passage to the language model. */
export const THRESHOLD = 0.45

type Score = NonNullable<Embedder['score']>

/**
 * Models differ in the cosine at which a passage becomes relevant (`relevant`); the specification
 * fixes a score of 0.45. The score (1 − w)·cos ± w maps the one onto the other and keeps the order.
 *
 * `across`, where a model states it, is the relevant cosine of a question and a passage in
 * different scripts, which are less near to each other: they get the whole of w, those in one
 * script the part at which `relevant` meets the threshold. So a bilingual knowledge base is
 * searched evenly.
 */
export function scoreScale(relevant: number | null, across: number | null): Score {
  if (relevant !== null && across !== null) return acrossScripts(relevant, across)
  if (relevant === null || relevant === THRESHOLD) return (cosine) => cosine
  const low = relevant < THRESHOLD
  const weight = low
    ? (THRESHOLD - relevant) / (1 - relevant)
    : (relevant - THRESHOLD) / (relevant + 1)
  return (cosine) => (1 - weight) * cosine + (low ? weight : -weight)
}

/** Mixed texts lie between: the weight turns with the share of Chinese characters in both. */
function acrossScripts(relevant: number, across: number): Score {
  const weight = (THRESHOLD - across) / (1 - across)
  const turn = Math.acos((THRESHOLD - (1 - weight) * relevant) / weight)
  const hanShare = createHanShare()
  return (cosine, question, text) => {
    const apart = 1 - hanShare(question) - hanShare(text)
    return (1 - weight) * cosine + weight * Math.cos(turn * apart)
  }
}
