import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import { type Db, joined, type Reader, sql } from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import type { PlainChunk } from './prepare.ts'
import { WAITING } from './store.ts'

/** A document of an export, without its text. */
export interface DocHead {
  readonly num: number
  readonly id: string
  readonly title: string
  readonly created_at: string
  readonly source_id: string | null
  readonly part: number | null
  readonly parts: number | null
  readonly collection_id: string | null
}

/** Documents for an export, read off the event loop, where tenants take turns. */
export function createArchiveStore({ db, reader }: { db: Db; reader: Reader }) {
  return {
    /** All documents of a tenant, oldest first. */
    heads: (tenantId: string): Promise<DocHead[]> =>
      reader.all(
        tenantId,
        sql`SELECT num, id, title, created_at, source_id, part, parts,
            nullif(collection_id, ${NO_COLLECTION}) AS collection_id FROM kb_doc
          WHERE tenant_id = ${tenantId} AND stage = 'live' ORDER BY created_at, num`,
      ),

    /** The live parts of a source, in order. */
    partsOf: (tenantId: string, sourceId: string): Promise<DocHead[]> =>
      reader.all(
        tenantId,
        sql`SELECT num, id, title, created_at, source_id, part, parts,
            nullif(collection_id, ${NO_COLLECTION}) AS collection_id FROM kb_doc
          WHERE tenant_id = ${tenantId} AND source_id = ${sourceId} AND stage = 'live'
          ORDER BY part, num`,
      ),

    /** Empty when the document was deleted meanwhile. */
    async chunks(tenantId: string, num: number): Promise<PlainChunk[]> {
      const rows = await reader.all<Omit<PlainChunk, 'ocr'> & { ocr: number }>(
        tenantId,
        sql`SELECT c.text, c.page, c.heading, c.ocr
          FROM kb_doc d JOIN kb_chunk c ON c.doc_num = d.num
          WHERE d.tenant_id = ${tenantId} AND d.num = ${num} ORDER BY c.seq`,
      )
      return rows.map(({ ocr, ...chunk }) => (ocr === 1 ? { ...chunk, ocr: true as const } : chunk))
    },

    /**
     * How many documents the view has, and how many of them have no vectors of `model`, or none at
     * all where the model is not known yet.
     */
    async progress(
      { tenantId, collections }: KbView,
      model: string | null,
    ): Promise<{ docs: number; waiting: number }> {
      const row = await db.get<{ docs: number; waiting: number | null }>(
        joined(
          sql`SELECT count(*) AS docs, sum(CASE
            WHEN embed_model = ${WAITING} OR embed_model <> ${model} THEN 1 ELSE 0 END) AS waiting
          FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'`,
          within('collection_id', collections),
        ),
      )
      return { docs: row?.docs ?? 0, waiting: row?.waiting ?? 0 }
    },
  }
}

export type ArchiveStore = ReturnType<typeof createArchiveStore>
