const LETTER = '[[\\p{L}\\p{M}]--\\p{sc=Han}]'
const HAN_OR_WORD = new RegExp(`(\\p{sc=Han})|${LETTER}+(?:['’]${LETTER}+)*`, 'gv')
/** A word of letters says about as much as two Chinese characters. */
const WORD_CHARS = 2

/** How much of a text is written in Chinese characters, 0 to 1; half of one without letters. */
export function hanShare(text: string): number {
  let han = 0
  let words = 0
  for (const [, character] of text.matchAll(HAN_OR_WORD)) {
    if (character) han++
    else words++
  }
  const all = han + words * WORD_CHARS
  return all === 0 ? 0.5 : han / all
}
