import { expectRows, sql, storedAsExpected } from '../../../storage/db.ts'
import type { ChunkIndex } from './embedding.ts'
import { keyOf } from './keys.ts'
import type { KbStoreParts } from './store.ts'

/** A document whose vectors are not of the current model. */
export interface StaleDoc {
  readonly num: number
  readonly tenant_id: string
  readonly title: string
  readonly embed_attempts: number
}

/** Documents that wait to be embedded again. The list is a column, so it survives a restart. */
export function createStaleStore({
  db,
  vectors,
  words,
}: Pick<KbStoreParts, 'db' | 'vectors' | 'words'>) {
  return {
    /** The next such document of any tenant; null when none may be tried now. */
    nextStale: (model: string, now: number) =>
      db.get<StaleDoc>(sql`
        SELECT num, tenant_id, title, embed_attempts FROM kb_doc
        WHERE embed_model <> ${model} AND stage = 'live' AND embed_after <= ${now}
        ORDER BY embed_after, num LIMIT 1`),

    async hasDocs(): Promise<boolean> {
      return (
        (await db.get(sql`SELECT 1 AS found FROM kb_doc WHERE stage = 'live' LIMIT 1`)) !== null
      )
    },

    async countStale(model: string): Promise<{ stale: number; all: number }> {
      const row = await db.get<{ stale: number; docs: number }>(sql`
        SELECT count(*) FILTER (WHERE embed_model <> ${model}) AS stale, count(*) AS docs
        FROM kb_doc
        WHERE stage = 'live'`)
      return { stale: row?.stale ?? 0, all: row?.docs ?? 0 }
    },

    async textsOf({ num, tenant_id }: StaleDoc): Promise<string[]> {
      const rows = await db.all<{ text: string }>(sql`
        SELECT c.text FROM kb_chunk c JOIN kb_doc d ON d.num = c.doc_num
        WHERE c.doc_num = ${num} AND d.tenant_id = ${tenant_id} ORDER BY c.seq`)
      return rows.map(({ text }) => text)
    },

    /**
     * Replaces a document in both indexes, unless it was renamed meanwhile, or deleted, or is being
     * removed.
     */
    async replace(doc: StaleDoc, model: string, fresh: readonly ChunkIndex[]) {
      const { num, tenant_id: tenantId } = doc
      const entries = fresh.map((index, seq) => ({ ...index, key: keyOf(num, seq) }))
      const batch = db.batch([
        expectRows(
          1,
          sql`UPDATE kb_doc SET embed_model = ${model}, embed_attempts = 0, embed_after = 0
          WHERE tenant_id = ${tenantId} AND num = ${num} AND stage = 'live'
            AND title = ${doc.title}`,
        ),
        ...vectors.remove(entries.map(({ key }) => key)),
        ...vectors.upsert({ tenantId, model }, entries),
        ...words.upsert(tenantId, entries),
      ])
      await storedAsExpected(batch)
    },

    postpone: ({ num, tenant_id }: StaleDoc, until: number) =>
      db.run(sql`UPDATE kb_doc SET embed_attempts = embed_attempts + 1, embed_after = ${until}
        WHERE tenant_id = ${tenant_id} AND num = ${num}`),
  }
}

export type StaleStore = ReturnType<typeof createStaleStore>
