import { type Statement, sql } from '../db.ts'

/** Shorter words resemble too many others. */
const LETTERS_MIN = 5
/** Similar words that are kept; a vocabulary has far fewer of one word. */
const NEAR_MAX = 20
const WORD = new RegExp(`^\\p{L}{${LETTERS_MIN},}$`, 'u')
/** Terms of the vocabulary that one statement reads, in about a millisecond. */
const SLICE_TERMS = 1_000
/** Terms that are read for one word; a vocabulary of 30,000 words has 500 with one beginning. */
const SCANNED_TERMS_MAX = 20_000

const ALPHABETS = [
  'abcdefghijklmnopqrstuvwxyz',
  'абвгдежзийклмнопрстуфхцчшщъыьэюяё',
  'αβγδεζηθικλμνξοπρστυφχψω',
]

/** Whether a term that no entry holds may be a misspelt word. */
export const mayBeMisspelt = (term: string) => WORD.test(term)

/**
 * The words of a vocabulary that one slip turns into `word`. The first letter is nearly always
 * right. With the second letter right, too, the vocabulary is read from there on, in slices; slips
 * at the second letter are few enough to be looked up one by one. So a search costs the same
 * whatever words a tenant's documents were made of.
 */
export async function nearTerms(
  word: string,
  tag: string,
  read: (statement: Statement) => Promise<readonly Slice[]>,
): Promise<string[]> {
  const beginning = tag + [...word].slice(0, 2).join('')
  const near = (await read(lookUp(tag, secondLetterSlips(word)))).flatMap(termsOf)
  let last: string | null = beginning
  for (let scanned = 0; last !== null && scanned < SCANNED_TERMS_MAX; scanned += SLICE_TERMS) {
    const [slice]: readonly Slice[] = await read(scan(tag, word, beginning, last))
    near.push(...(slice ? termsOf(slice) : []))
    last = slice?.seen === SLICE_TERMS ? slice.last : null
  }
  return near
    .map((term) => term.slice(tag.length))
    .filter((term) => isOneSlip(word, term))
    .slice(0, NEAR_MAX)
}

/** What one statement read of the vocabulary. */
export interface Slice {
  readonly seen: number
  readonly last: string | null
  /** Terms that may be near, separated by blanks. */
  readonly near: string | null
}

const termsOf = ({ near }: Slice) => near?.split(' ') ?? []

/** The next terms with this beginning; a slip leaves one half of the word as it is. */
function scan(tag: string, word: string, beginning: string, after: string): Statement {
  const half = word.length >> 1
  const [head, tail] = [tag + word.slice(0, half), word.slice(half)]
  const length = tag.length + word.length
  return sql`
    SELECT count(*) AS seen, max(term) AS last, group_concat(
      CASE WHEN length(term) BETWEEN ${length - 1} AND ${length + 1}
        AND (substr(term, 1, ${head.length}) = ${head} OR substr(term, ${-tail.length}) = ${tail})
      THEN term END, ' ') AS near
    FROM (SELECT term FROM kb_term WHERE term > ${after} AND term < ${`${beginning}\u{10ffff}`}
      ORDER BY term LIMIT ${SLICE_TERMS})`
}

/** Those of the words that the vocabulary has. */
const lookUp = (tag: string, words: readonly string[]): Statement => sql`
  SELECT 0 AS seen, NULL AS last, group_concat(term, ' ') AS near
  FROM json_each(${JSON.stringify(words.map((word) => tag + word))}) CROSS JOIN kb_term
  WHERE term = value`

/** The word with its second letter left out, exchanged for the next one or another, or doubled. */
function secondLetterSlips(word: string): string[] {
  const [first = '', second = '', third = '', ...rest] = word
  const end = rest.join('')
  const alphabet = ALPHABETS.find((letters) => letters.includes(second)) ?? word
  return [
    first + third + end,
    first + third + second + end,
    ...[...new Set(alphabet)].flatMap((letter) => [
      first + letter + third + end,
      first + letter + second + third + end,
    ]),
  ]
}

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
