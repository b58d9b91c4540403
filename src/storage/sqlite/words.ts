import { type Collections, docsWithin } from '../collections.ts'
import { joined, type Statement, sql } from '../db.ts'
import { KEYS_PER_DOC, type WordIndex } from '../indexes.ts'
import {
  entriesOf,
  isOneSlip,
  K1,
  NEAR_MAX,
  PREFIXED_TERMS_MAX,
  PREFIXED_TERMS_USED,
  RANKED_ENTRIES_MAX,
  REPEATED,
  searchWords,
  slipsAt,
  tenantTag,
  type Weighed,
  type WordReads,
} from '../word-search.ts'
import type { ReadThread } from './read-thread.ts'

/** FTS5's query for one term of one tenant; null when nothing of the term is left. */
function queryOf(tag: string, term: string): string | null {
  const prefix = term.endsWith('*')
  const text = (prefix ? term.slice(0, -1) : term).replaceAll(/["*]/g, '')
  if (text === '') return null
  return prefix ? `"${tag}${text}" *` : `"${tag}${text}"`
}

/** The end of a condition: that the entry belongs to a document that is searched. */
const seen = (key: 'rowid' | 'doc', tenantId: string, collections: Collections): Statement =>
  collections === null
    ? sql``
    : joined(
        { sql: `AND ${key} / ${KEYS_PER_DOC} IN (`, args: [] },
        docsWithin(tenantId, collections),
        sql`)`,
      )

const counts = (queries: readonly string[], among: Statement): Statement =>
  joined(
    sql`SELECT (SELECT count(*) FROM kb_word WHERE kb_word MATCH value`,
    among,
    sql`) AS holding FROM json_each(${JSON.stringify(queries)}) ORDER BY key`,
  )

/** The first and the last term that it stands for. */
function spanOf({ term, weight }: Weighed) {
  if (!term.endsWith('*')) return { weight, from: term, to: term }
  const begun = term.slice(0, -1)
  return { weight, from: begun, to: `${begun}\u{10ffff}` }
}

/** The entries that hold the terms, best first. One text for any number of terms. */
const gains = (terms: readonly Weighed[], limit: number, among: Statement): Statement =>
  joined(
    sql`SELECT key, sum(weight * times * ${REPEATED} / (times + ${K1})) AS gain FROM (
      SELECT doc AS key, wanted.value ->> 'weight' AS weight, count(*) AS times
      FROM json_each(${JSON.stringify(terms.map(spanOf))}) wanted CROSS JOIN kb_occurrence
      WHERE term BETWEEN wanted.value ->> 'from' AND wanted.value ->> 'to'`,
    among,
    sql`GROUP BY wanted.key, doc)
      GROUP BY key ORDER BY gain DESC, key LIMIT ${limit}`,
  )

/** Reads for one search; on the reading thread its tenant takes turns with others. */
type Read = <Row>(statement: Statement) => Promise<Row[]>

/** How many entries hold each term. */
async function countOf(
  read: Read,
  tag: string,
  terms: readonly string[],
  among: Statement,
): Promise<number[]> {
  const queries = terms.map((term) => queryOf(tag, term) ?? '')
  const found = await read<{ holding: number }>(counts(queries, among))
  return found.map(({ holding }) => holding)
}

/** As `WordReads.expand`, in statements of `SLICE_TERMS` terms. */
async function expand(read: Read, tag: string, term: string): Promise<readonly string[]> {
  const from = tag + term.slice(0, -1)
  const begun = await read<{ term: string; doc: number }>(sql`
    SELECT term, doc FROM kb_term WHERE term >= ${from} AND term < ${`${from}\u{10ffff}`}
    LIMIT ${PREFIXED_TERMS_MAX}`)
  const entries = begun.reduce((sum, { doc }) => sum + doc, 0)
  if (begun.length < PREFIXED_TERMS_MAX && entries <= RANKED_ENTRIES_MAX) return [term]
  const held = begun.sort((a, b) => b.doc - a.doc).slice(0, PREFIXED_TERMS_USED)
  return held.map((one) => one.term.slice(tag.length))
}

/** The inverted index in a table of FTS5, which stores the terms and no text. */
export function createWordIndex(reader: ReadThread): WordIndex {
  return {
    upsert(tenantId, entries) {
      const tag = tenantTag(tenantId)
      // One join, because a document has tens of thousands of terms and the event loop waits.
      const next = ` ${tag}`
      return entries.flatMap(({ key, terms }) => [
        sql`DELETE FROM kb_word WHERE rowid = ${key}`,
        sql`INSERT INTO kb_word (rowid, terms)
          VALUES (${key}, ${terms.length > 0 ? tag + terms.join(next) : ''})`,
      ])
    },

    remove: (keys) => keys.map((key) => sql`DELETE FROM kb_word WHERE rowid = ${key}`),

    search(tenantId, terms, limit, signal, collections = null) {
      const read: Read = (statement) => reader.all(tenantId, statement, signal)
      return searchWords(wordReads(read, tenantId, collections), terms, limit)
    },
  }
}

function wordReads(read: Read, tenantId: string, collections: Collections): WordReads {
  const tag = tenantTag(tenantId)
  const all = entriesOf(tenantId, collections)
  return {
    entries: () => read<{ entries: number }>(all).then(([size]) => size?.entries ?? 0),
    countOf: (terms) => countOf(read, tag, terms, seen('rowid', tenantId, collections)),
    expand: (term) => expand(read, tag, term),
    nearTerms: (word) => nearTerms(word, tag, (statement) => read<Slice>(statement)),
    gains: (terms, limit) =>
      read(
        gains(
          terms.map((one) => ({ ...one, term: tag + one.term })),
          limit,
          seen('doc', tenantId, collections),
        ),
      ),
  }
}

/** Terms of the vocabulary that one statement reads, in about a millisecond. */
const SLICE_TERMS = 1_000
/** Terms that are read for one word; of a vocabulary of 30,000 words, 500 share a prefix. */
const SCANNED_TERMS_MAX = 20_000

/**
 * The words of a vocabulary that are one slip away from `word`. The first letter is nearly always
 * right. For slips after the second letter, the terms with the same two letters are read in slices.
 * Slips at the second letter are few enough to be looked up one by one. So the cost of a search
 * does not depend on the words of a tenant's documents.
 */
async function nearTerms(
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

/** The next slice of terms with this prefix; one slip leaves one half of the word unchanged. */
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

/** Which of the words the vocabulary has. */
const lookUp = (tag: string, words: readonly string[]): Statement => sql`
  SELECT 0 AS seen, NULL AS last, group_concat(term, ' ') AS near
  FROM json_each(${JSON.stringify(words.map((word) => tag + word))}) CROSS JOIN kb_term
  WHERE term = value`
