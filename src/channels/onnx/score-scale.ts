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
  return (cosine, question, text) => {
    const apart = 1 - hanShare(question) - hanShare(text)
    return (1 - weight) * cosine + weight * Math.cos(turn * apart)
  }
}

/** A word of letters says about as much as two Chinese characters. */
const WORD_CHARS = 2

type Kind = 'han' | 'letter' | 'apostrophe' | 'other'

/** How much of a text is written in Chinese characters, 0 to 1; half of one without letters. */
export function hanShare(text: string): number {
  let han = 0
  let words = 0
  let inWord = false
  for (let i = 0; i < text.length; i++) {
    const kind = kindAt(text, i)
    if (kind === 'han') han++
    if (kind === 'letter' && !inWord) words++
    inWord =
      kind === 'letter' || (inWord && kind === 'apostrophe' && kindAt(text, i + 1) === 'letter')
  }
  const all = han + words * WORD_CHARS
  return all === 0 ? 0.5 : han / all
}

/** Nearly all characters lie in ranges that are known; the others are matched by patterns. */
function kindAt(text: string, at: number): Kind {
  const unit = text.charCodeAt(at)
  if (unit >= 0x4e00 && unit <= 0x9fff) return 'han'
  if (unit < 0x80) {
    const lower = unit | 0x20
    if (lower >= 0x61 && lower <= 0x7a) return 'letter'
    return unit === 0x27 ? 'apostrophe' : 'other'
  }
  if (unit === 0x2019) return 'apostrophe'
  const code = text.codePointAt(at)
  if (code === undefined) return 'other'
  const char = String.fromCodePoint(code)
  if (/\p{sc=Han}/u.test(char)) return 'han'
  return /[\p{L}\p{M}]/u.test(char) ? 'letter' : 'other'
}
