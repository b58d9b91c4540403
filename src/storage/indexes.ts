import type { Collections } from './collections.ts'
import type { Statement } from './db.ts'

/** A set of vectors that may be compared: one tenant's, made by one embedding model. */
export interface VectorSpace {
  readonly tenantId: string
  /** `Embedder.id`. */
  readonly model: string
  /** A search compares the documents of these alone; absent: of all. */
  readonly collections?: Collections
}

/** Chunks a document may have: far more than a document of the greatest size has. */
export const KEYS_PER_DOC = 1024

/** The document of a key. */
export const docOf = (key: number) => Math.floor(key / KEYS_PER_DOC)

export interface VectorEntry {
  /** The number of the document times `KEYS_PER_DOC`, plus that of the chunk. */
  readonly key: number
  /** A vector of unit length. The zero vector has no direction and is not stored. */
  readonly vector: Float32Array
}

export interface Neighbour {
  readonly key: number
  readonly cosine: number
}

/**
 * The port to nearest-neighbour search. Writes are statements, so that vectors commit in one batch
 * with the rows they belong to; reads never hold up the event loop.
 */
export interface VectorIndex {
  /** Adds or replaces the vectors of whole documents. All have the same length. */
  upsert(space: VectorSpace, entries: readonly VectorEntry[]): Statement[]
  /**
   * Removes the vectors of these keys for every model. A document that lost one vector is not found
   * by its other vectors either.
   */
  remove(keys: readonly number[]): Statement[]
  /** The nearest vectors of the space, nearest first. Among many vectors it may miss a few. */
  search(
    space: VectorSpace,
    query: Float32Array,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Neighbour[]>
  /**
   * The vectors of these keys in the space, of this length, unordered; keys without one are absent.
   */
  read(
    space: VectorSpace,
    dimensions: number,
    keys: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>
  /** The cosines of these keys; keys without a vector in the space are absent. */
  cosines(
    space: VectorSpace,
    query: Float32Array,
    keys: readonly number[],
    signal?: AbortSignal,
  ): Promise<Neighbour[]>
}

export interface WordEntry {
  /** As in `VectorEntry`. */
  readonly key: number
  /** Repeated as often as they occur; letters, digits, and `-_./+#:@'&` between them. */
  readonly terms: readonly string[]
}

export interface WordMatch {
  readonly key: number
  /** How much of the query the entry covers: its BM25 over the best possible one, 0 to 1. */
  readonly coverage: number
}

/**
 * The port to the inverted index: which chunks hold the terms of a query. Terms are weighed by the
 * counts of the documents that are searched, of the tenant alone.
 */
export interface WordIndex {
  upsert(tenantId: string, entries: readonly WordEntry[]): Statement[]
  remove(keys: readonly number[]): Statement[]
  /** Best first. A term that ends in `*` matches all terms that begin so. */
  search(
    tenantId: string,
    terms: readonly string[],
    limit: number,
    signal?: AbortSignal,
    /** The search is within the documents of these alone; absent: all. */
    collections?: Collections,
  ): Promise<WordMatch[]>
}

/** A turn that holds terms of a search, by the number of its session and its own. */
export interface TurnPlace {
  readonly num: number
  readonly seq: number
}

/** Words that one turn must hold all of, such as the pairs of characters of a Chinese word. */
export type TurnTerm = readonly string[]

/**
 * The port to the index of what was said: which turns, and titles as turns 0, hold which words. A
 * title or turn that is deleted goes from it with its row. The numbers of sessions belong to one
 * tenant each; the hashes of words differ between tenants.
 */
export interface TurnIndex {
  /** Stores the words of turns, whose `num` and `seq` the statement reads, in place of others. */
  put(tenantId: string, turns: Statement, words: readonly string[]): Statement
  /** Sessions with a turn that holds the term; null when more than `turnsMax` turns hold it. */
  holders(
    tenantId: string,
    term: TurnTerm,
    turnsMax: number,
    signal?: AbortSignal,
  ): Promise<readonly number[] | null>
  /** Which of the sessions have a turn that holds the term. */
  among(
    tenantId: string,
    term: TurnTerm,
    nums: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly number[]>
  /** The turn of each session that holds most of the terms, the newest of several. */
  best(
    tenantId: string,
    terms: readonly TurnTerm[],
    nums: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly TurnPlace[]>
}
