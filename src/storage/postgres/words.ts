import { type Collections, docsWithin } from '../collections.ts'
import { joined, type Reader, type Statement, sql } from '../db.ts'
import { KEYS_PER_DOC, type WordIndex } from '../indexes.ts'
import {
  entriesOf,
  K1,
  NEAR_MAX,
  PREFIXED_TERMS_MAX,
  PREFIXED_TERMS_USED,
  REPEATED,
  searchWords,
  slipsAt,
  tenantTag,
  type Weighed,
  type WordReads,
} from '../word-search.ts'

const isPrefix = (term: string) => term.endsWith('*')

/** Entries whose terms are read to expand one prefix, in about 0.1 s. */
const PREFIXED_ENTRIES_MAX = 2_000

/** The term in the syntax of `tsquery`: quoted whole, so that no sign in it is an operator. */
function queryOf(tag: string, term: string): string {
  const text = isPrefix(term) ? term.slice(0, -1) : term
  const quoted = `'${(tag + text).replaceAll(/['\\]/g, '$&$&')}'`
  return isPrefix(term) ? `${quoted}:*` : quoted
}

/**
 * The end of a condition: that the key belongs to a document that is searched. `IS TRUE` keeps the
 * documents one hash table; as a join they would be hashed for each term anew.
 */
export const seenKeys = (tenantId: string, collections: Collections): Statement =>
  collections === null
    ? sql``
    : joined(
        { sql: `AND (key / ${KEYS_PER_DOC} IN (`, args: [] },
        docsWithin(tenantId, collections),
        sql`)) IS TRUE`,
      )

/** How many entries each of the queries finds. */
const counts = (queries: readonly string[], among: Statement): Statement =>
  joined(
    sql`SELECT (SELECT count(*) FROM kb_word WHERE terms @@ query.value::tsquery`,
    among,
    sql`) AS holding
      FROM json_array_elements_text(${JSON.stringify(queries)}::text::json) WITH ORDINALITY
        AS query (value, at)
      ORDER BY query.at`,
  )

/** Which of the words any entry holds. */
const held = (tag: string, words: readonly string[]): Statement => sql`
  SELECT word.value ->> 0 AS term
  FROM json_array_elements(${JSON.stringify(words.map((word) => [word, queryOf(tag, word)]))}
    ::text::json) AS word (value)
  WHERE EXISTS (SELECT 1 FROM kb_word WHERE terms @@ (word.value ->> 1)::tsquery)
  LIMIT ${NEAR_MAX}`

/** Terms with this prefix, from the first entries that hold any; the most frequent first. */
const begun = (tag: string, prefix: string): Statement => sql`
  SELECT substr(lexeme, ${tag.length + 1}::int) AS term, count(*) AS holding
  FROM (SELECT terms FROM kb_word WHERE terms @@ ${queryOf(tag, prefix)}::tsquery
      LIMIT ${PREFIXED_ENTRIES_MAX}) AS entry, unnest(entry.terms)
  WHERE starts_with(lexeme, ${tag + prefix.slice(0, -1)})
  GROUP BY lexeme ORDER BY holding DESC, lexeme COLLATE "C" LIMIT ${PREFIXED_TERMS_MAX}`

/**
 * The entries that hold the terms, best first. `begins` is the prefix of the terms that one term
 * ending in `*` stands for.
 */
function gains(tag: string, terms: readonly Weighed[], limit: number, among: Statement): Statement {
  const wanted = terms.map(({ term, weight }) => {
    const begins = isPrefix(term) ? tag + term.slice(0, -1) : null
    return { term, weight, begins, query: queryOf(tag, term) }
  })
  return joined(
    sql`SELECT key, sum(weight * times * ${REPEATED} / (times + ${K1})) AS gain
    FROM (
      SELECT key, weight, CASE WHEN begins IS NULL
        THEN coalesce((repeated ->> term)::float8, 1)
        ELSE (SELECT sum(coalesce((repeated ->> substr(lexeme, ${tag.length + 1}::int))::float8, 1))
          FROM unnest(terms) WHERE starts_with(lexeme, begins)) END AS times
      FROM json_to_recordset(${JSON.stringify(wanted)}::text::json)
        AS wanted (query TEXT, term TEXT, begins TEXT, weight FLOAT8)
      JOIN kb_word ON terms @@ query::tsquery
      -- Keeps the parts apart: else times is computed twice, and whole entries are sorted.
      OFFSET 0) AS found
    GROUP BY key HAVING true`,
    // Asked once an entry, and not once a term of it.
    among,
    sql`ORDER BY gain DESC, key LIMIT ${limit}`,
  )
}

const insert = (tag: string, keys: string, texts: string): Statement => sql`
  INSERT INTO kb_word (key, terms, repeated)
  SELECT key, array_to_tsvector(array_agg(${tag}::text || term)),
    jsonb_object_agg(term, times) FILTER (WHERE times > 1)
  FROM (
    SELECT k.value::bigint AS key, term, count(term) AS times
    FROM json_array_elements_text(${keys}::text::json) WITH ORDINALITY AS k (value, at)
    JOIN json_array_elements_text(${texts}::text::json) WITH ORDINALITY AS t (value, at) USING (at),
      unnest(string_to_array(t.value, ' ')) AS term
    WHERE term <> ''
    GROUP BY 1, 2) AS counted
  GROUP BY key`

/** The inverted index in a GIN index over the product's own terms, without a dictionary. */
export function createWordIndex(reader: Reader): WordIndex {
  const remove = (keys: readonly number[]): Statement[] => [
    sql`DELETE FROM kb_word WHERE key IN (
      SELECT value::bigint FROM json_array_elements_text(${JSON.stringify(keys)}::text::json)
        AS gone (value))`,
  ]
  return {
    upsert(tenantId, entries) {
      const keys = entries.map(({ key }) => key)
      // One join, because a document has tens of thousands of terms and the event loop waits.
      const texts = entries.map(({ terms }) => terms.join(' '))
      return [
        ...remove(keys),
        insert(tenantTag(tenantId), JSON.stringify(keys), JSON.stringify(texts)),
      ]
    },

    remove,

    search(tenantId, terms, limit, signal, collections = null) {
      const read: Read = (statement) => reader.all(tenantId, statement, signal)
      return searchWords(wordReads(read, tenantId, collections), terms, limit)
    },
  }
}

type Read = <Row>(statement: Statement) => Promise<Row[]>

function wordReads(read: Read, tenantId: string, collections: Collections): WordReads {
  const tag = tenantTag(tenantId)
  const among = seenKeys(tenantId, collections)
  return {
    async entries() {
      const [size] = await read<{ entries: number }>(entriesOf(tenantId, collections))
      return size?.entries ?? 0
    },
    async countOf(terms) {
      const queries = terms.map((term) => queryOf(tag, term))
      const found = await read<{ holding: number }>(counts(queries, among))
      return found.map(({ holding }) => holding)
    },
    async expand(prefix) {
      const [[{ holding } = { holding: 0 }], found] = await Promise.all([
        read<{ holding: number }>(counts([queryOf(tag, prefix)], sql``)),
        read<{ term: string }>(begun(tag, prefix)),
      ])
      if (holding <= PREFIXED_ENTRIES_MAX && found.length < PREFIXED_TERMS_MAX) return [prefix]
      return found.slice(0, PREFIXED_TERMS_USED).map(({ term }) => term)
    },
    async nearTerms(word) {
      // The first letter is nearly always right.
      const places = Array.from([...word], (_, at) => at + 1)
      const slips = new Set(places.flatMap((at) => slipsAt(word, at)))
      const found = await read<{ term: string }>(held(tag, [...slips]))
      return found.map(({ term }) => term)
    },
    gains: (terms, limit) => read(gains(tag, terms, limit, among)),
  }
}
