import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import { type Db, joined, type Reader, sql } from '../../../storage/db.ts'
import { docOf } from '../../../storage/indexes.ts'
import type { KbView } from '../collections/access.ts'
import type { KbChunk } from '../model.ts'
import { ownText } from './index-text.ts'
import { keyOf, seqOf } from './keys.ts'

/** A chunk as a search returns it and a model reads it. */
export interface Passage extends KbChunk {
  readonly key: number
  readonly doc_id: string
  readonly title: string
  readonly collection_id: string | null
}

/** Passages by their keys, as a search reads them. */
export function createPassageStore(db: Db, reader: Reader) {
  return {
    /** The keys of `count` passages spread over the documents, or of all when fewer. */
    async someKeys({ tenantId, collections }: KbView, count: number): Promise<number[]> {
      const docs = await db.all<{ num: number; chunk_count: number }>(
        joined(
          sql`SELECT num, chunk_count FROM kb_doc
            WHERE tenant_id = ${tenantId} AND stage = 'live'`,
          within('collection_id', collections),
          sql`ORDER BY num`,
        ),
      )
      const all = docs.reduce((sum, { chunk_count }) => sum + chunk_count, 0)
      const step = Math.max(1, all / count)
      const keys: number[] = []
      let start = 0
      for (const { num, chunk_count } of docs) {
        for (; keys.length < count && keys.length * step < start + chunk_count; ) {
          keys.push(keyOf(num, Math.floor(keys.length * step) - start))
        }
        start += chunk_count
      }
      return keys
    },

    /** The passages of those keys that the view has, unordered. */
    async passages(
      { tenantId, collections }: KbView,
      keys: readonly number[],
      signal?: AbortSignal,
    ): Promise<Passage[]> {
      const wanted = JSON.stringify(keys.map((key) => [docOf(key), seqOf(key)]))
      // CROSS JOIN fixes the order; otherwise SQLite reads all of the tenant's chunks.
      const found = joined(
        sql`
        SELECT d.num, d.id AS doc_id, d.title, c.seq, c.text, c.page, c.heading, c.ocr, s.url,
          nullif(d.collection_id, ${NO_COLLECTION}) AS collection_id, b.text AS before
        FROM json_each(${wanted}) w
          CROSS JOIN kb_doc d
          CROSS JOIN kb_chunk c
          LEFT JOIN kb_chunk b ON b.doc_num = d.num AND b.seq = c.seq - 1
          LEFT JOIN kb_source s ON s.id = d.source_id
        WHERE d.num = CAST(w.value ->> 0 AS BIGINT) AND d.tenant_id = ${tenantId}
          AND d.stage = 'live'
          AND c.doc_num = d.num AND c.seq = CAST(w.value ->> 1 AS BIGINT)`,
        within('d.collection_id', collections),
      )
      type Row = Omit<Passage, 'key' | 'ocr'> & { num: number; before: string | null; ocr: number }
      const rows = await reader.all<Row>(tenantId, found, signal)
      return rows.map(({ num, before, ocr, ...row }) => ({
        ...row,
        ...(ocr === 1 ? { ocr: true as const } : {}),
        text: ownText(before ?? '', row.text),
        key: keyOf(num, row.seq),
      }))
    },
  }
}
