import { type Db, type Reader, sql, textRows } from '../../../storage/db.ts'
import { docOf, KEYS_PER_DOC } from '../../../storage/indexes.ts'
import type { KbView } from '../collections/access.ts'
import { freshText, ownText } from '../index/index-text.ts'
import { keyOf } from '../index/keys.ts'
import type { Passage } from '../index/passage-store.ts'

/** A passage of a file; its number counts on through all parts of the file. */
export interface FilePassage {
  readonly seq: number
  readonly page: number | null
  readonly heading: string | null
  readonly text: string
  /** A model has read the page from a picture. */
  readonly ocr?: true
}

interface PartRow {
  readonly num: number
  readonly chunk_count: number
}

/** Reads the text of files that people talk about, which have documents of the stage `file`. */
export function createFileTextStore({ db, reader }: { db: Db; reader: Reader }) {
  const partsOf = (tenantId: string, fileId: string) =>
    db.all<PartRow>(sql`
      SELECT num, chunk_count FROM kb_doc
      WHERE tenant_id = ${tenantId} AND source_id = ${fileId} AND stage = 'file' ORDER BY part`)

  /** Chunks of one document, each as it stands after the one before. */
  async function chunksOf(tenantId: string, num: number, from: number, to: number) {
    const rows = await reader.all<Omit<FilePassage, 'ocr'> & { ocr: number }>(
      tenantId,
      sql`SELECT seq, page, heading, text, ocr FROM kb_chunk
        WHERE doc_num = ${num} AND seq >= ${from - 1} AND seq < ${to} ORDER BY seq`,
    )
    const before = new Map(rows.map(({ seq, text }) => [seq + 1, text]))
    return rows
      .filter(({ seq }) => seq >= from)
      .map(({ ocr, ...row }) => ({
        ...row,
        ...(ocr === 1 ? { ocr: true as const } : {}),
        text: freshText(before.get(row.seq) ?? '', row.text),
      }))
  }

  return {
    /** `count` passages from number `from` on, whose texts follow one another without overlaps. */
    async read(tenantId: string, fileId: string, from: number, count: number) {
      const passages: FilePassage[] = []
      let start = 0
      for (const { num, chunk_count } of await partsOf(tenantId, fileId)) {
        const first = Math.max(0, from - start)
        const last = Math.min(chunk_count, from + count - start)
        if (first < last) {
          for (const one of await chunksOf(tenantId, num, first, last)) {
            passages.push({ ...one, seq: start + one.seq })
          }
        }
        start += chunk_count
      }
      const next = from + count
      return { passages, next: next < start ? next : null }
    },

    /** The number of the first passage on a page; null when no passage begins there. */
    async firstOf(tenantId: string, fileId: string, page: number): Promise<number | null> {
      const row = await db.get<{ num: number; seq: number | null }>(sql`
        SELECT d.num, min(c.seq) AS seq FROM kb_doc d JOIN kb_chunk c ON c.doc_num = d.num
        WHERE d.tenant_id = ${tenantId} AND d.source_id = ${fileId} AND d.stage = 'file'
          AND c.page = ${page}
        GROUP BY d.num, d.part ORDER BY d.part LIMIT 1`)
      if (row?.seq == null) return null
      let start = 0
      for (const { num, chunk_count } of await partsOf(tenantId, fileId)) {
        if (num === row.num) return start + row.seq
        start += chunk_count
      }
      return null
    },

    /** How many documents and passages the files have together. */
    async size(tenantId: string, fileIds: readonly string[]) {
      const row = await db.get<{ docs: number; passages: number | null }>(sql`
        SELECT count(*) AS docs, sum(d.chunk_count) AS passages
        FROM json_each(${textRows(fileIds)}) w CROSS JOIN kb_doc d
        WHERE d.source_id = w.value ->> 0 AND d.tenant_id = ${tenantId} AND d.stage = 'file'`)
      return { docs: row?.docs ?? 0, passages: row?.passages ?? 0 }
    },

    /** Passages by their keys, unordered; `doc_id` is the file, `seq` counts through its parts. */
    async passages(
      { tenantId }: KbView,
      keys: readonly number[],
      signal?: AbortSignal,
    ): Promise<Passage[]> {
      const wanted = JSON.stringify(keys.map((key) => [docOf(key), key % KEYS_PER_DOC]))
      type Row = Omit<Passage, 'key'> & { num: number; before: string | null; offset_seq: number }
      const rows = await reader.all<Row>(
        tenantId,
        sql`
        SELECT d.num, d.source_id AS doc_id, d.title, c.seq, c.text, c.page, c.heading,
          NULL AS url, NULL AS collection_id, b.text AS before,
          (SELECT coalesce(sum(o.chunk_count), 0) FROM kb_doc o
            WHERE o.source_id = d.source_id AND o.stage = 'file' AND o.part < d.part) AS offset_seq
        FROM json_each(${wanted}) w
          CROSS JOIN kb_doc d
          CROSS JOIN kb_chunk c
          LEFT JOIN kb_chunk b ON b.doc_num = d.num AND b.seq = c.seq - 1
        WHERE d.num = CAST(w.value ->> 0 AS BIGINT) AND d.tenant_id = ${tenantId}
          AND d.stage = 'file'
          AND c.doc_num = d.num AND c.seq = CAST(w.value ->> 1 AS BIGINT)`,
        signal,
      )
      return rows.map(({ num, before, offset_seq, ...row }) => ({
        ...row,
        text: ownText(before ?? '', row.text),
        key: keyOf(num, row.seq),
        seq: offset_seq + row.seq,
      }))
    },

    /** The parts of a file as documents, with their chunks as they are stored. */
    async *documents(tenantId: string, fileId: string) {
      for (const { num } of await partsOf(tenantId, fileId)) {
        const chunks = await reader.all<{
          text: string
          page: number | null
          heading: string | null
          ocr: number
        }>(
          tenantId,
          sql`SELECT text, page, heading, ocr FROM kb_chunk WHERE doc_num = ${num} ORDER BY seq`,
        )
        yield chunks.map(({ ocr, ...chunk }) =>
          ocr === 1 ? { ...chunk, ocr: true as const } : chunk,
        )
      }
    },

    parts: async (tenantId: string, fileId: string): Promise<number> =>
      (await partsOf(tenantId, fileId)).length,
  }
}

export type FileTextStore = ReturnType<typeof createFileTextStore>
