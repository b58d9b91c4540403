import { sha256Hex } from '../../core/crypto.ts'
import { type Statement, sql } from '../db.ts'
import type { WordIndex } from '../indexes.ts'
import type { ReadThread } from './read-thread.ts'
import { mayBeMisspelt, nearTerms, type Slice } from './spell-correction.ts'

/** Prefix of every stored term, so that a search finds only terms of its own tenant. */
const TENANT_CHARS = 12
const tenantTag = (tenantId: string) => sha256Hex(tenantId).slice(0, TENANT_CHARS)

/**
 * BM25 (Robertson and others, 1994) with its usual k1 and without the length of entries: chunks
 * differ little in length, and FTS5 compares them with those of all tenants.
 */
const K1 = 1.2
/** A repeated term weighs at most this many times a single one. */
const REPEATED = K1 + 1

/** FTS5's query for one term of one tenant; null when nothing of the term is left. */
function queryOf(tag: string, term: string): string | null {
  const prefix = term.endsWith('*')
  const text = (prefix ? term.slice(0, -1) : term).replaceAll(/["*]/g, '')
  if (text === '') return null
  return prefix ? `"${tag}${text}" *` : `"${tag}${text}"`
}

/** Inverse document frequency (Robertson and Spärck Jones) of a term in `holding` entries. */
const rarity = (all: number, holding: number) =>
  Math.log(1 + (all - holding + 0.5) / (holding + 0.5))
const counts = (queries: readonly string[]): Statement => sql`
  SELECT (SELECT count(*) FROM kb_word WHERE kb_word MATCH value) AS holding
  FROM json_each(${JSON.stringify(queries)}) ORDER BY key`

/** How many entries the tenant has. To count them in the index takes 5 ms for 100,000. */
const entriesOf = (tenantId: string): Statement => sql`
  SELECT sum(chunk_count) AS entries FROM kb_doc
  WHERE tenant_id = ${tenantId} AND stage = 'live'`

/** A term to rank by, as it is stored; one that ends in `*` stands for all that begin so. */
interface Weighed {
  readonly term: string
  readonly weight: number
}

const inTerm = ({ term }: Weighed) => (term.endsWith('*') ? 'term >= ? AND term < ?' : 'term = ?')
function termArgs({ term }: Weighed): string[] {
  const begun = term.slice(0, -1)
  return term.endsWith('*') ? [begun, `${begun}\u{10ffff}`] : [term]
}

/** The entries that hold the terms, best first. */
const gains = (terms: readonly Weighed[], limit: number): Statement => ({
  sql: `SELECT key, sum(weight * times * ${REPEATED} / (times + ${K1})) AS gain FROM (${terms
    .map(
      (one) => `SELECT doc AS key, ? AS weight, count(*) AS times FROM kb_occurrence
        WHERE ${inTerm(one)} GROUP BY doc`,
    )
    .join(' UNION ALL ')}) GROUP BY key ORDER BY gain DESC, key LIMIT ?`,
  args: [...terms.flatMap((one) => [one.weight, ...termArgs(one)]), limit],
})

/** Words of one query that are looked up as misspelt. */
const MISSPELT_MAX = 3
/** Corrections of one misspelt word: those that most entries hold. */
const MEANT_MAX = 3
/** A guess counts for less than a word that is there as it was written. */
const GUESS_SHARE = 0.9

/**
 * A term that more entries hold than this number and this share says little and takes most of the
 * time of a search. It is left out when the question has other terms.
 */
const COMMON_MIN = 500
const COMMON_SHARE = 0.3
/** Entries that one search ranks, about 30 ms; beyond it the commonest terms are left out. */
const RANKED_ENTRIES_MAX = 50_000

/** A term to look for, and how many entries hold it. */
interface Asked {
  readonly term: string
  readonly count: number
  /** Part of its weight that counts: corrections of one word share that word's weight. */
  readonly share: number
}

/** The statements of one search, in its tenant's turns of the reading thread. */
type Read = <Row>(statement: Statement) => Promise<Row[]>

/** How many entries hold each term. */
async function countOf(read: Read, tag: string, terms: readonly string[]): Promise<number[]> {
  const queries = terms.map((term) => queryOf(tag, term) ?? '')
  const found = await read<{ holding: number }>(counts(queries))
  return found.map(({ holding }) => holding)
}

/** Terms with one beginning beyond which only the most held are looked for. */
const PREFIXED_TERMS_MAX = 1_000
const PREFIXED_TERMS_USED = 32

/**
 * The term itself, unless it ends in `*` and more begins so than one statement should read: then
 * the terms that most entries hold.
 */
async function expand(read: Read, tag: string, term: string): Promise<readonly string[]> {
  if (!term.endsWith('*')) return [term]
  const from = tag + term.slice(0, -1)
  const begun = await read<{ term: string; doc: number }>(sql`
    SELECT term, doc FROM kb_term WHERE term >= ${from} AND term < ${`${from}\u{10ffff}`}
    LIMIT ${PREFIXED_TERMS_MAX}`)
  const entries = begun.reduce((sum, { doc }) => sum + doc, 0)
  if (begun.length < PREFIXED_TERMS_MAX && entries <= RANKED_ENTRIES_MAX) return [term]
  const held = begun.sort((a, b) => b.doc - a.doc).slice(0, PREFIXED_TERMS_USED)
  return held.map((one) => one.term.slice(tag.length))
}

/** Corrections of the words that no entry holds. */
async function correct(read: Read, tag: string, asked: readonly Asked[]): Promise<Asked[]> {
  const unknown = asked.filter(({ term, count }) => count === 0 && mayBeMisspelt(term))
  const guesses = unknown.slice(0, MISSPELT_MAX).map(async ({ term }) => {
    const near = await nearTerms(term, tag, (statement) => read<Slice>(statement))
    if (near.length === 0) return []
    const held = await countOf(read, tag, near)
    // The vocabulary may still name the terms of a deleted entry.
    const found = near
      .flatMap((one, i) => (held[i] ? [{ term: one, count: held[i] }] : []))
      .sort((a, b) => b.count - a.count)
      .slice(0, MEANT_MAX)
    return found.map((one) => ({ ...one, share: GUESS_SHARE / found.length }))
  })
  return (await Promise.all(guesses)).flat()
}

/** The terms to rank by, of those that some entry holds. */
function telling(held: readonly Asked[], own: number): Asked[] {
  const common = Math.max(COMMON_MIN, own * COMMON_SHARE)
  const rare = held.filter(({ count }) => count <= common)
  let entries = 0
  return (rare.length > 0 ? rare : held)
    .toSorted((a, b) => a.count - b.count)
    .filter(({ count }, i) => {
      entries += count
      return i === 0 || entries <= RANKED_ENTRIES_MAX
    })
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

    async search(tenantId, terms, limit, signal) {
      const read: Read = (statement) => reader.all(tenantId, statement, signal)
      const tag = tenantTag(tenantId)
      const asSaid = terms.filter((term) => queryOf(tag, term) !== null)
      const wanted = (await Promise.all(asSaid.map((term) => expand(read, tag, term)))).flat()
      if (wanted.length === 0) return []
      const [[size], holding] = await Promise.all([
        read<{ entries: number | null }>(entriesOf(tenantId)),
        countOf(read, tag, wanted),
      ])
      const own = size?.entries ?? 0
      if (own === 0) return []
      const asked = wanted.map((term, i) => ({ term, count: holding[i] ?? 0, share: 1 }))
      const ideal = asked.reduce((sum, { count }) => sum + rarity(own, count), 0) * REPEATED
      const meant = await correct(read, tag, asked)
      const used = telling([...asked.filter(({ count }) => count > 0), ...meant], own)
      if (used.length === 0) return []
      const weighed = used.map(({ term, count, share }) => ({
        term: tag + term,
        weight: share * rarity(own, count),
      }))
      const rows = await read<{ key: number; gain: number }>(gains(weighed, limit))
      return rows.map(({ key, gain }) => ({ key, coverage: Math.min(1, gain / ideal) }))
    },
  }
}
