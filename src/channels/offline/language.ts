export type Language = 'zh' | 'en'

/** Chinese as soon as one Han character is there, else English. */
export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en'
}

const SENTENCE_END = /[。！？!?…\n]|\.(?=\s|$)/u

/** The first sentence of `text` on one line, cut to `charsMax` code points. */
export function firstSentence(text: string, charsMax: number): string {
  const flat = text.trim()
  const end = flat.search(SENTENCE_END)
  const sentence = (end < 0 ? flat : flat.slice(0, end + 1)).replace(/\s+/g, ' ').trim()
  return shorten(sentence, charsMax)
}

/** At most `charsMax` code points, with an ellipsis where something was left out. */
export function shorten(text: string, charsMax: number): string {
  const chars = [...text.slice(0, charsMax * 2 + 2)]
  return chars.length <= charsMax ? text : `${chars.slice(0, charsMax - 1).join('')}…`
}
