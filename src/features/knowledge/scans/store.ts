import { type Db, expectRows, locked, sql, storedAsExpected } from '../../../storage/db.ts'
import type { SourceKey } from '../sources/row.ts'

/** How far the pages of a file are read, in pages. */
export interface Progress {
  readonly all: number
  /** Whose text is known. */
  readonly done: number
  /** That a model has read. */
  readonly scanned: number
}

/** What models have read of scanned pages, until their file has become documents. */
export function createScanStore(db: Db) {
  return {
    /** The texts by page. */
    async texts({ tenant_id, id }: SourceKey, fileHash: string): Promise<Map<number, string>> {
      const rows = await db.all<{ page: number; text: string }>(sql`
        SELECT page, text FROM scan_page WHERE tenant_id = ${tenant_id} AND source_id = ${id}
          AND file_hash = ${fileHash} ORDER BY page`)
      return new Map(rows.map(({ page, text }) => [page, text]))
    },

    /** Tells how far a source is that has no documents yet. */
    async begin({ tenant_id, id }: SourceKey, { all, done, scanned }: Progress): Promise<void> {
      await db.run(sql`
        UPDATE kb_source SET pages = ${all}, pages_done = ${done}, ocr_pages = ${scanned}
        WHERE tenant_id = ${tenant_id} AND id = ${id}
          AND state IN ('queued', 'reading', 'embedding')`)
    },

    /** Stores the text of a page. False when the source was deleted. */
    add({ tenant_id, id }: SourceKey, fileHash: string, page: number, text: string) {
      const insert = locked('kb_source', tenant_id)`
        INSERT INTO scan_page (source_id, page, tenant_id, file_hash, text)
        SELECT id, ${page}, tenant_id, ${fileHash}, ${text} FROM kb_source
        WHERE tenant_id = ${tenant_id} AND id = ${id}
        ON CONFLICT (source_id, page) DO UPDATE
          SET file_hash = excluded.file_hash, text = excluded.text`
      const count = sql`
        UPDATE kb_source SET pages_done = pages_done + 1, ocr_pages = ocr_pages + 1
        WHERE tenant_id = ${tenant_id} AND id = ${id}
          AND state IN ('queued', 'reading', 'embedding')`
      return storedAsExpected(db.batch([expectRows(1, insert), count]))
    },

    /** Removes what was read of a source. */
    async forget(id: string): Promise<void> {
      await db.run(sql`DELETE FROM scan_page WHERE source_id = ${id}`)
    },
  }
}

export type ScanStore = ReturnType<typeof createScanStore>
