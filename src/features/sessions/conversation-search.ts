import { inOneLine } from '../../core/text.ts'

/**
 * The terms of a search in conversations: words or their prefixes at the start of a word, and runs
 * of scripts without blanks, such as Chinese, anywhere. The patterns are SQLite's: LIKE is fast and
 * ignores the case of ASCII letters; GLOB, which is slow, then checks the character before the
 * word.
 */

/** Only the first terms of a longer query are searched for. */
const TERMS_MAX = 8

const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const DENSE = `${SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}々〇ー`
const RUNS = new RegExp(`(?<dense>[${DENSE}]+)|[[\\p{L}\\p{N}]--[${DENSE}]]+`, 'gv')

/** Letters and digits of scripts with blanks between their words, as GLOB writes them. */
const WORD_CHARS = '0-9A-Za-zªµºÀ-ÖØ-öø-ʯͰ-҂Ҋ-ֆא-ת؀-ۓ०-९ऄ-ह'

export interface SearchTerm {
  /** Patterns for LIKE, one of which must fit: the word in its usual cases. */
  readonly likes: readonly string[]
  /**
   * A pattern for GLOB that must match the text after a line break; null when any place is right.
   */
  readonly glob: string | null
  /** Finds the term in a text. */
  readonly seen: RegExp
}

/** The distinct terms of a query, in order; all of them must be found. */
export function searchTerms(query: string): SearchTerm[] {
  const terms = new Map<string, SearchTerm>()
  for (const match of query.normalize('NFC').toLowerCase().matchAll(RUNS)) {
    const [text] = match
    if (terms.size < TERMS_MAX) {
      terms.set(text, match.groups?.dense === undefined ? wordTerm(text) : runTerm(text))
    }
  }
  return [...terms.values()]
}

const anywhere = (text: string) => `%${text}%`

const runTerm = (text: string): SearchTerm => ({
  likes: [anywhere(text)],
  glob: null,
  seen: new RegExp(text, 'iu'),
})

function wordTerm(word: string): SearchTerm {
  const [first = '', ...rest] = word
  const cases = new Set([word, first.toUpperCase() + rest.join(''), word.toUpperCase()])
  const letters = [...word].map((one) => {
    const upper = one.toUpperCase()
    return upper === one || upper.length > one.length ? one : `[${one}${upper}]`
  })
  return {
    likes: (/^[a-z0-9]+$/.test(word) ? [word] : [...cases]).map(anywhere),
    glob: `*[^${WORD_CHARS}]${letters.join('')}*`,
    seen: new RegExp(`(?<![${WORD_CHARS}])${word}`, 'iu'),
  }
}

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
