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

/** A word of letters says about as much as two Chinese characters. */
const WORD_CHARS = 2

const HAN = 1
const LETTER = 2
const APOSTROPHE = 3
const OTHER = 4

/**
 * How much of a text is written in Chinese characters, 0 to 1; half of one without letters. A
 * search asks for a hundred texts on the event loop, so kinds of characters are kept once matched.
 */
export function createHanShare() {
  const kinds = new Uint8Array(0x10000)

  function kindAt(text: string, at: number): number {
    const code = text.codePointAt(at) ?? 0
    const known = kinds[code]
    if (known) return known
    const kind = kindOf(String.fromCodePoint(code))
    if (code < kinds.length) kinds[code] = kind
    return kind
  }

  return function hanShare(text: string): number {
    let han = 0
    let words = 0
    let inWord = false
    for (let i = 0; i < text.length; i++) {
      const kind = kindAt(text, i)
      if (kind === HAN) han++
      if (kind === LETTER && !inWord) words++
      inWord = kind === LETTER || (inWord && kind === APOSTROPHE && kindAt(text, i + 1) === LETTER)
    }
    const all = han + words * WORD_CHARS
    return all === 0 ? 0.5 : han / all
  }
}

function kindOf(char: string): number {
  if (char === "'" || char === '’') return APOSTROPHE
  if (/\p{sc=Han}/u.test(char)) return HAN
  return /[\p{L}\p{M}]/u.test(char) ? LETTER : OTHER
}
