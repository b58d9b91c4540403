import { type Statement, sql } from '../db.ts'
import { isOneSlip, NEAR_MAX, slipsAt } from '../spelling.ts'

/** Terms of the vocabulary that one statement reads, in about a millisecond. */
const SLICE_TERMS = 1_000
/** Terms that are read for one word; a vocabulary of 30,000 words has 500 with one beginning. */
const SCANNED_TERMS_MAX = 20_000

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
  const near = (await read(lookUp(tag, slipsAt(word, 1)))).flatMap(termsOf)
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
