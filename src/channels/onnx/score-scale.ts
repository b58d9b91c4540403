import { createHanShare } from '../../core/text.ts'
import type { Embedder } from '../../upstream/ports/embedder.ts'

/** The score from which a passage is shown to the language model. */
export const THRESHOLD = 0.45

type Score = NonNullable<Embedder['score']>

/**
 * Models differ in the cosine from which a passage is relevant (`relevant`); the
 * product's threshold is a score of 0.45. The score (1 − w)·cos ± w maps the one onto the other and
 * keeps the order.
 *
 * `across`, where a model states it, is the relevant cosine of a question and a passage in
 * different scripts, which is lower. Such pairs get the whole of w; pairs in one script get the
 * part at which `relevant` meets the threshold. So both languages of a bilingual knowledge base are
 * found equally.
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

/** The weight changes gradually with the difference of the shares of Chinese characters. */
function acrossScripts(relevant: number, across: number): Score {
  const weight = (THRESHOLD - across) / (1 - across)
  const turn = Math.acos((THRESHOLD - (1 - weight) * relevant) / weight)
  const hanShare = createHanShare()
  return (cosine, question, text) => {
    const apart = 1 - hanShare(question) - hanShare(text)
    return (1 - weight) * cosine + weight * Math.cos(turn * apart)
  }
}
