import { stem } from './stem.ts'

/**
 * What a text is looked up by, for scripts with and without blanks between words. Chinese and its
 * like give every pair of neighbouring characters, and single ones; other words are lower-cased and
 * stemmed; numbers and part numbers stay exact, also together with the characters around them, so
 * that 第36条 is not 第367条.
 */

/** Scripts written without blanks between words. */
const DENSE =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}々〇ー'
const TOKEN = new RegExp(
  `(?<dense>[${DENSE}]+)|(?<word>[\\p{L}\\p{N}]+(?:[-_./+#:@'’&][\\p{L}\\p{N}]+)*[+#]*)`,
  'gu',
)
const DENSE_CHAR = new RegExp(`[${DENSE}]`, 'u')
const PARTS = /[^\p{L}\p{N}]+/u
const MARKS = /\p{M}+/gu

const TERM_CHARS_MAX = 48
/** A question of more different terms than this is a text; its first terms must do. */
const QUERY_TERMS_MAX = 64

/**
 * All terms of a text, repeated as often as they occur. A single character is found as the beginning
 * of a pair, so only the last one of a run, which begins none, is a term of its own.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  for (const run of runsOf(text)) {
    if (run.dense) {
      terms.push(...pairs(run.chars), run.chars.at(-1) ?? '')
      if (run.after) terms.push(run.after + run.chars[0])
    } else {
      terms.push(...wordTerms(run.text))
      if (run.before) terms.push(run.before + run.text.slice(0, TERM_CHARS_MAX))
    }
  }
  return terms
}

/** The different terms of a question; one that ends in `*` stands for all that begin so. */
export function queryTerms(text: string): string[] {
  const terms = new Set<string>()
  for (const run of runsOf(text)) {
    if (run.dense) {
      const found = run.chars.length > 1 ? pairs(run.chars) : [`${run.chars[0]}*`]
      for (const term of found) terms.add(term)
      if (run.after) terms.add(run.after + run.chars[0])
    } else {
      for (const term of wordTerms(run.text)) terms.add(term)
      if (run.before) terms.add(run.before + run.text.slice(0, TERM_CHARS_MAX))
    }
    if (terms.size >= QUERY_TERMS_MAX) break
  }
  return [...terms].slice(0, QUERY_TERMS_MAX)
}

interface Run {
  readonly text: string
  readonly dense: boolean
  readonly chars: readonly string[]
  /** The dense character right before a word, as 第 in 第36. */
  readonly before: string
  /** The number right before dense characters, as 36 in 36条. */
  readonly after: string
}

function* runsOf(text: string): Generator<Run> {
  const normal = text.normalize('NFKC').toLowerCase()
  let end = 0
  let last: Run | null = null
  for (const match of normal.matchAll(TOKEN)) {
    const touching = last && match.index === end ? last : null
    const found = match[0]
    const dense = match.groups?.dense !== undefined
    const number = touching && !touching.dense && /^\d+$/.test(touching.text) ? touching.text : ''
    last = {
      text: found,
      dense,
      chars: dense ? [...found] : [],
      before: !dense && touching?.dense ? (touching.chars.at(-1) ?? '') : '',
      after: dense ? number.slice(0, TERM_CHARS_MAX) : '',
    }
    end = match.index + found.length
    yield last
  }
}

function pairs(chars: readonly string[]): string[] {
  const found: string[] = []
  for (let i = 1; i < chars.length; i++) found.push(`${chars[i - 1]}${chars[i]}`)
  return found
}

/** A word as written, and the parts of one with hyphens, dots and the like. */
function wordTerms(word: string): string[] {
  const parts = word.split(PARTS).filter((part) => part && !DENSE_CHAR.test(part))
  const stems = parts.map((part) => stem(part.normalize('NFD').replace(MARKS, '')))
  const whole = parts.length > 1 || PARTS.test(word) ? [word] : []
  return [...whole, ...stems].map((term) => term.slice(0, TERM_CHARS_MAX))
}
