import type { Statement } from './db.ts'

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
 * counts of the tenant alone.
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
  ): Promise<WordMatch[]>
}
