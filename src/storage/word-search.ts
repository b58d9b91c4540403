import { sha256Hex } from '../core/crypto.ts'
import { type Collections, within } from './collections.ts'
import { joined, type Statement, sql } from './db.ts'
import type { WordMatch } from './indexes.ts'

/** Length of the tag before every stored term, by which a search finds only its tenant's terms. */
const TAG_CHARS = 12
export const tenantTag = (tenantId: string) => sha256Hex(tenantId).slice(0, TAG_CHARS)

/**
 * How many entries a tenant has, or a file of a conversation, which is found apart. Counting them
 * in the word index takes 5 ms for 100,000.
 */
export const entriesOf = (scope: string, collections: Collections = null): Statement =>
  joined(
    sql`SELECT coalesce(sum(chunk_count), 0) AS entries FROM (
      SELECT chunk_count FROM kb_doc WHERE tenant_id = ${scope} AND stage = 'live'`,
    within('collection_id', collections),
    sql`UNION ALL
      SELECT chunk_count FROM kb_doc WHERE source_id = ${scope} AND stage = 'file'
    ) counted`,
  )

/** A term to rank by. One that ends in `*` stands for all terms with that prefix. */
export interface Weighed {
  readonly term: string
  readonly weight: number
}

/** What a search asks of the inverted index of one tenant. */
export interface WordReads {
  /** How many entries the tenant has. */
  entries(): Promise<number>
  /** How many entries hold each term. */
  countOf(terms: readonly string[]): Promise<readonly number[]>
  /**
   * What to search for in place of a term that ends in `*`: the term itself, or the most frequent
   * terms with that prefix where there are too many.
   */
  expand(term: string): Promise<readonly string[]>
  /** Terms that are one slip away from the word. */
  nearTerms(word: string): Promise<readonly string[]>
  /**
   * The entries that hold the terms, best first: the sum over their terms of the weight times
   * `REPEATED` times `n / (n + K1)`, where `n` is how often the entry holds the term. Equal ones
   * are in the order of their keys.
   */
  gains(terms: readonly Weighed[], limit: number): Promise<readonly { key: number; gain: number }[]>
}

/**
 * BM25 (Robertson and others, 1994) with its usual k1 and without the length of entries, in which
 * chunks differ little.
 */
export const K1 = 1.2
/** A repeated term weighs at most this many times a single one. */
export const REPEATED = K1 + 1

/** Inverse document frequency (Robertson and Spärck Jones) of a term in `holding` entries. */
const rarity = (all: number, holding: number) =>
  Math.log(1 + (all - holding + 0.5) / (holding + 0.5))

/** Words of one query that are looked up as misspelt. */
const MISSPELT_MAX = 3
/** Corrections of one misspelt word: those that most entries hold. */
const MEANT_MAX = 3
/** A correction weighs less than a word that an entry holds as it was written. */
const GUESS_SHARE = 0.9

/**
 * A term that more entries hold than this number and this share distinguishes little and costs most
 * of a search. It is left out when the query has other terms.
 */
const COMMON_MIN = 500
const COMMON_SHARE = 0.3
/** Entries that one search ranks, about 30 ms; beyond it the commonest terms are left out. */
export const RANKED_ENTRIES_MAX = 50_000

/** Above this number of terms with one prefix, only the most frequent are searched for. */
export const PREFIXED_TERMS_MAX = 1_000
export const PREFIXED_TERMS_USED = 32

/** A term to search for, and how many entries hold it. */
interface QueryTerm {
  readonly term: string
  readonly count: number
  /** Part of its weight that counts: corrections of one word share that word's weight. */
  readonly share: number
}

const isPrefix = (term: string) => term.endsWith('*')

/** Corrections of the words that no entry holds. */
async function correct(reads: WordReads, queryTerms: readonly QueryTerm[]): Promise<QueryTerm[]> {
  const unknown = queryTerms.filter(({ term, count }) => count === 0 && mayBeMisspelt(term))
  const guesses = unknown.slice(0, MISSPELT_MAX).map(async ({ term }) => {
    const near = await reads.nearTerms(term)
    if (near.length === 0) return []
    const held = await reads.countOf(near)
    // A vocabulary may still name the terms of a deleted entry.
    const found = near
      .flatMap((one, i) => (held[i] ? [{ term: one, count: held[i] }] : []))
      .sort((a, b) => b.count - a.count)
      .slice(0, MEANT_MAX)
    return found.map((one) => ({ ...one, share: GUESS_SHARE / found.length }))
  })
  return (await Promise.all(guesses)).flat()
}

/** Which of the terms in the index to rank by. */
function selectiveTerms(held: readonly QueryTerm[], own: number): QueryTerm[] {
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

/** The search of `WordIndex`: the same rules, and so the same coverage, on every index. */
export async function searchWords(
  reads: WordReads,
  terms: readonly string[],
  limit: number,
): Promise<WordMatch[]> {
  const named = terms.filter((term) => /[^"*]/.test(term))
  const expanded = named.map((term) => (isPrefix(term) ? reads.expand(term) : [term]))
  const wanted = (await Promise.all(expanded)).flat()
  if (wanted.length === 0) return []
  const [own, holding] = await Promise.all([reads.entries(), reads.countOf(wanted)])
  if (own === 0) return []
  const queryTerms = wanted.map((term, i) => ({ term, count: holding[i] ?? 0, share: 1 }))
  const ideal = queryTerms.reduce((sum, { count }) => sum + rarity(own, count), 0) * REPEATED
  const corrections = await correct(reads, queryTerms)
  const used = selectiveTerms([...queryTerms.filter(({ count }) => count > 0), ...corrections], own)
  if (used.length === 0) return []
  const weighed = used.map(({ term, count, share }) => ({
    term,
    weight: share * rarity(own, count),
  }))
  const rows = await reads.gains(weighed, limit)
  return rows.map(({ key, gain }) => ({ key, coverage: Math.min(1, gain / ideal) }))
}

/** Shorter words resemble too many others. */
const LETTERS_MIN = 5
/** Similar words that are kept; a vocabulary has far fewer for one word. */
export const NEAR_MAX = 20
const WORD = new RegExp(`^\\p{L}{${LETTERS_MIN},}$`, 'u')

const ALPHABETS = [
  'abcdefghijklmnopqrstuvwxyz',
  'абвгдежзийклмнопрстуфхцчшщъыьэюяё',
  'αβγδεζηθικλμνξοπρστυφχψω',
]

/** Whether a term that no entry holds may be a misspelt word. */
export const mayBeMisspelt = (term: string) => WORD.test(term)

/**
 * The words that one slip at `at` makes: the letter left out, swapped with the next one, replaced,
 * or another one inserted before it. `at` may be the end of the word.
 */
export function slipsAt(word: string, at: number): string[] {
  const letters = [...word]
  const head = letters.slice(0, at).join('')
  const [own = '', next = '', ...rest] = letters.slice(at)
  const end = rest.join('')
  const alphabet = ALPHABETS.find((some) => some.includes(own || (letters.at(-1) ?? ''))) ?? word
  return [
    head + next + end,
    head + next + own + end,
    ...[...new Set(alphabet)].flatMap((letter) => [
      head + letter + next + end,
      head + letter + own + next + end,
    ]),
  ].filter((slip) => slip !== word)
}

/**
 * Whether one inserted, missing or wrong letter, or two swapped neighbours, make the difference.
 */
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
