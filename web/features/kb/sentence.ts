const SENTENCES = /[^.!?。！？\n]+[.!?。！？]*/gu
const WORDS = /\p{Script=Han}|[\p{L}\p{N}]+/gu

export interface Span {
  readonly from: number
  readonly to: number
}

/** Words, and pairs of Chinese characters. */
function termsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(WORDS) ?? []
  const isHan = (word: string) => /^\p{Script=Han}/u.test(word)
  const terms = words.map((word, at) => {
    const next = words[at + 1]
    return isHan(word) && next !== undefined && isHan(next) ? word + next : word
  })
  return new Set(terms)
}

/** The sentence of `text` that shares the most words with `quote`; null where none shares two. */
export function nearestSentence(text: string, quote: string): Span | null {
  const wanted = termsOf(quote)
  let best: Span | null = null
  let most = 1
  for (const { 0: sentence, index } of text.matchAll(SENTENCES)) {
    const shared = [...termsOf(sentence)].filter((term) => wanted.has(term)).length
    if (shared <= most) continue
    most = shared
    best = { from: index, to: index + sentence.length }
  }
  return best
}
