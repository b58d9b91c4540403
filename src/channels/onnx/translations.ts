import { createHanShare } from '../../core/text.ts'
import type { Concept, Lexicon } from './lexicon.ts'

/** How far the scripts of a question and a passage differ from which on they are two languages. */
const APART = 0.5

/**
 * Tells how much of a question each text says in the words of the other language, 0 to 1, and 0 for
 * texts in its own. `stemsOf` has the words of a text.
 */
export function createTranslations(lexicon: () => Lexicon | null) {
  const hanShare = createHanShare()

  return function translated(
    question: string,
    texts: readonly string[],
    stemsOf: (at: number) => readonly string[],
  ): number[] {
    const own = hanShare(question)
    const isAcross = (text: string) => Math.abs(own - hanShare(text)) > APART
    const across = texts.flatMap((text, at) =>
      isAcross(text) ? [{ at, text, stems: stemsOf(at) }] : [],
    )
    const concepts = across.length > 0 ? (lexicon()?.conceptsOf(question) ?? []) : []
    const shares = translatedShares(concepts, across)
    const all = texts.map(() => 0)
    for (const [i, { at }] of across.entries()) all[at] = shares[i] ?? 0
    return all
  }
}

/** A text whose words are known: their stems, and the text itself for names. */
export interface Said {
  readonly text: string
  readonly stems: Iterable<string>
}

/**
 * How much of a question each text says in other words, 0 to 1: its concepts by their rarity among
 * the texts. A concept that no text says counts as the rarest.
 */
export function translatedShares(concepts: readonly Concept[], texts: readonly Said[]): number[] {
  const bits = new Map<string, number>()
  for (const [at, { words }] of concepts.entries()) {
    for (const word of words) bits.set(word, (bits.get(word) ?? 0) | (1 << at))
  }
  const said = texts.map(({ text, stems }) => {
    let found = 0
    for (const word of stems) found |= bits.get(word) ?? 0
    for (const [at, { name }] of concepts.entries()) {
      if (name && (found & (1 << at)) === 0 && name.test(text)) found |= 1 << at
    }
    return found
  })
  const weights = concepts.map(({ weight }, at) => {
    const saying = said.filter((found) => (found & (1 << at)) !== 0).length
    return weight * Math.log(1 + (texts.length - saying + 0.5) / (saying + 0.5))
  })
  const total = weights.reduce((sum, one) => sum + one, 0)
  return said.map((found) => {
    const own = weights.reduce((sum, one, at) => sum + ((found & (1 << at)) === 0 ? 0 : one), 0)
    return total > 0 ? own / total : 0
  })
}
