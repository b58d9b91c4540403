import { inOneLine } from '../../core/text.ts'
import type { TurnTerm } from '../../storage/indexes.ts'

/**
 * The words by which conversations are found. Words of scripts with blanks are found by their
 * beginnings, so each beginning of a word is one; those with digits, of which people have many and
 * long ones, by their first characters and whole. Of scripts without blanks, such as Chinese, each
 * character and each pair of neighbours is a word.
 */

/** Only the first terms of a longer query are searched for. */
const TERMS_MAX = 8
/** Characters of a word that count; longer ones are alike when these are. */
const WORD_CHARS_MAX = 40
/** Longer beginnings of a word with digits, such as a number or a code, are not indexed. */
const CODE_CHARS_MAX = 8
const DIGIT = /\p{N}/u
/** Characters of a text that are indexed, and searched for an excerpt. */
export const INDEXED_CHARS_MAX = 20_000

const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const DENSE = `${SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}々〇ー`
const RUNS = new RegExp(`(?<dense>[${DENSE}]+)|[[\\p{L}\\p{N}]--[${DENSE}]]+`, 'gv')

/** Letters and digits of scripts with blanks between their words. */
const WORD_CHARS = '0-9A-Za-zªµºÀ-ÖØ-öø-ʯͰ-҂Ҋ-ֆא-ת؀-ۓ०-९ऄ-ह'

const runsOf = (text: string) => text.normalize('NFC').toLowerCase().matchAll(RUNS)
const isDense = (match: RegExpExecArray) => match.groups?.dense !== undefined

function pairsOf(chars: readonly string[]): string[] {
  return chars.slice(1).map((char, before) => `${chars[before]}${char}`)
}

/** The distinct words that texts are found by. */
export function indexWords(texts: readonly string[]): string[] {
  const words = new Set<string>()
  for (const text of texts) {
    for (const match of runsOf(text.slice(0, INDEXED_CHARS_MAX))) {
      const [run] = match
      if (isDense(match)) {
        const chars = [...run]
        for (const word of [...chars, ...pairsOf(chars)]) words.add(word)
      } else {
        const word = run.slice(0, WORD_CHARS_MAX)
        const end = DIGIT.test(word) ? Math.min(word.length, CODE_CHARS_MAX) : word.length
        for (let length = 1; length <= end; length++) words.add(word.slice(0, length))
        words.add(word)
      }
    }
  }
  return [...words]
}

export interface SearchTerm {
  readonly words: TurnTerm
  /** Finds the term in a text. */
  readonly seen: RegExp
}

/** The distinct terms of a query, in order; all of them must be found. */
export function searchTerms(query: string): SearchTerm[] {
  const terms = new Map<string, SearchTerm>()
  for (const match of runsOf(query)) {
    const text = match[0].slice(0, WORD_CHARS_MAX)
    if (terms.size < TERMS_MAX) terms.set(text, isDense(match) ? runTerm(text) : wordTerm(text))
  }
  return [...terms.values()]
}

function runTerm(text: string): SearchTerm {
  const chars = [...text]
  const words = chars.length > 1 ? pairsOf(chars) : chars
  return { words: [...new Set(words)], seen: new RegExp(text, 'iu') }
}

const wordTerm = (word: string): SearchTerm => ({
  words: [word],
  seen: new RegExp(`(?<![${WORD_CHARS}])${word}`, 'iu'),
})

/** UTF-16 units of an excerpt before and after the start of the match. */
const BEFORE = 32
const AFTER = 88

/** The text around the first term, in one line; null when the text has none of them. */
export function excerptOf(text: string, terms: readonly SearchTerm[]): string | null {
  const places = terms.map(({ seen }) => text.search(seen)).filter((place) => place >= 0)
  if (places.length === 0) return null
  const at = Math.min(...places)
  const blank = at > BEFORE ? text.lastIndexOf(' ', at - BEFORE / 2) : -1
  const from = at <= BEFORE ? 0 : Math.max(blank + 1, at - BEFORE)
  const to = Math.min(text.length, at + AFTER)
  // Removes half a surrogate pair at either end.
  const cut = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return inOneLine(`${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`)
}
