import type { Statement } from './db.ts'

export interface WordEntry {
  /** As in `VectorEntry`. */
  readonly key: number
  /** Repeated as often as they occur; letters, digits, and `-_./+#:@'&` between them. */
  readonly terms: readonly string[]
}

export interface WordMatch {
  readonly key: number
  /** How much of what the query asks for is there: BM25 over the best possible, 0 to 1. */
  readonly coverage: number
}

/**
 * The port to the inverted index: which entries hold the terms of a query. Counts are the tenant's
 * own, so that no tenant's texts change what another one finds.
 */
export interface WordIndex {
  upsert(tenantId: string, entries: readonly WordEntry[]): Statement[]
  remove(keys: readonly number[]): Statement[]
  /** Best first. A term that ends in `*` stands for all that begin so. */
  search(
    tenantId: string,
    terms: readonly string[],
    limit: number,
    signal?: AbortSignal,
  ): Promise<WordMatch[]>
}
