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
