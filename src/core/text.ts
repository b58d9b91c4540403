/** Length in code points, the unit of every character limit. */
export function charCount(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(i + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      pairs++
      i++
    }
  }
  return text.length - pairs
}

/** The first `count` code points. */
export function firstChars(text: string, count: number): string {
  if (text.length <= count) return text
  let end = 0
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/** The text without line breaks, and without blanks at its ends or beside each other. */
export const inOneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/** The text in parts of at most `lengthMax` UTF-16 units, never within a character. */
export function cutText(text: string, lengthMax = Infinity): string[] {
  const parts: string[] = []
  let from = 0
  while (text.length - from > lengthMax) {
    const isPair = (text.codePointAt(from + lengthMax - 1) ?? 0) > 0xffff
    const end = from + lengthMax - (isPair ? 1 : 0)
    parts.push(text.slice(from, end))
    from = end
  }
  return [...parts, text.slice(from)]
}

/** Texts in groups of at most `countMax`, and of at most `unitsMax` UTF-16 units or one text. */
export function groupTexts(
  texts: readonly string[],
  countMax: number,
  unitsMax: number,
): string[][] {
  const groups: string[][] = []
  let units = 0
  for (const text of texts) {
    units += text.length
    const group = groups.at(-1)
    if (group && group.length < countMax && units <= unitsMax) {
      group.push(text)
    } else {
      groups.push([text])
      units = text.length
    }
  }
  return groups
}

/**
 * Tokens of texts whose model does not say how many it read or wrote: one for every four characters
 * of ASCII and one for each CJK character. In UTF-8, one such character has two bytes more than it
 * has units in UTF-16; letters of two bytes count in between. The runtime counts bytes several
 * times faster than a loop counts characters.
 */
export const estimateTokens = (texts: readonly string[]): number =>
  Math.ceil(texts.reduce((tokens, text) => tokens + tokensIn(text), 0))

/** The same of one text, not rounded, so that texts which come in pieces can be added up. */
export function tokensIn(text: string): number {
  const bytes = Buffer.byteLength(text)
  const wide = (bytes - text.length) / 2
  return wide + (bytes - 3 * wide) / 4
}

/** Pieces that are kept apart before they are joined. */
const PIECES_MAX = 256

/**
 * Text that comes in pieces. A string that is added to keeps every piece, with some 50 bytes beside
 * its characters: an answer of two million characters in pieces of two took 43 MB. Here the pieces
 * are joined now and then, so that the text takes little more than its characters.
 */
export class TextInPieces {
  #joined = ''
  #pieces: string[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: string): void {
    if (piece === '') return
    this.#length += piece.length
    this.#pieces.push(piece)
    if (this.#pieces.length >= PIECES_MAX) this.#join()
  }

  toString(): string {
    this.#join()
    return this.#joined
  }

  #join(): void {
    this.#joined += this.#pieces.join('')
    this.#pieces = []
  }
}

/** A word of letters says about as much as two Chinese characters. */
const WORD_CHARS = 2

const HAN = 1
const LETTER = 2
const APOSTROPHE = 3
const OTHER = 4

/**
 * The share of a text that is written in Chinese characters, 0 to 1; 0.5 for a text without
 * letters. A search asks for a hundred texts on the event loop, so the kind of each character is
 * cached.
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
