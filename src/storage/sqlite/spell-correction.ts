import { type Statement, sql } from '../db.ts'

/** Shorter words have too many that are like them. */
const LETTERS_MIN = 5
/** Far more than a vocabulary has of one word. */
const NEAR_MAX = 20
const WORD = new RegExp(`^\\p{L}{${LETTERS_MIN},}$`, 'u')

/** Whether a term that nothing holds may be a word that somebody misspelt. */
export const mayBeMisspelt = (term: string) => WORD.test(term)

/**
 * The terms with the prefix `tag` that may be one slip away from `term`. The first letter is nearly
 * always right, and a slip leaves one half of a word as it is, so few rows come back of a
 * vocabulary of tens of thousands.
 */
export function candidates(tag: string, term: string): Statement {
  const first = term.codePointAt(0) as number
  const [from, to] = [tag + String.fromCodePoint(first), tag + String.fromCodePoint(first + 1)]
  const half = term.length >> 1
  const [head, tail] = [tag + term.slice(0, half), term.slice(half)]
  const length = tag.length + term.length
  return sql`
    SELECT term FROM kb_term WHERE term >= ${from} AND term < ${to}
      AND length(term) BETWEEN ${length - 1} AND ${length + 1}
      AND (substr(term, 1, ${head.length}) = ${head} OR substr(term, ${-tail.length}) = ${tail})`
}

/** Of the words, those that one slip turns into `word`. */
export const nearTo = (word: string, words: readonly string[]) =>
  words.filter((one) => isOneSlip(word, one)).slice(0, NEAR_MAX)

/** One letter too many, too few or another one, or two neighbours the wrong way round. */
export function isOneSlip(a: string, b: string): boolean {
  if (a === b) return false
  const [long, short] = a.length >= b.length ? [a, b] : [b, a]
  let i = 0
  while (i < short.length && long[i] === short[i]) i++
  if (long.length > short.length) return long.slice(i + 1) === short.slice(i)
  const swapped = long[i] === short[i + 1] && long[i + 1] === short[i]
  return (
    long.slice(i + 1) === short.slice(i + 1) ||
    (swapped && long.slice(i + 2) === short.slice(i + 2))
  )
}
