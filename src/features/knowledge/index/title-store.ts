import { within } from '../../../storage/collections.ts'
import { type Db, joined, type Statement, sql, withLock } from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import { WAITING } from './store.ts'

/**
 * Titles of documents. Both indexes hold the title with each passage, so a document that is renamed
 * waits to be indexed again (reembed.ts), behind those renamed before it; until then it is found as
 * before. Times are epoch milliseconds.
 */
export function createTitleStore(db: Db) {
  return {
    /** Renames a typed document; false when the view has none. */
    async rename(
      { tenantId, collections }: KbView,
      id: string,
      title: string,
      now: number,
    ): Promise<boolean> {
      const rename = joined(
        sql`UPDATE kb_doc SET title = ${title}, embed_model = ${WAITING},
            embed_after = ${now}, embed_attempts = 0
          WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'
            AND source_id IS NULL`,
        within('collection_id', collections),
      )
      return (await db.run(rename)).changes === 1
    },
  }
}

export type TitleStore = ReturnType<typeof createTitleStore>

/** Names the live parts of a source as the source is named. */
export function followTitle(tenantId: string, sourceId: string, now: number): Statement {
  const title = sql`(SELECT s.title FROM kb_source s
      WHERE s.tenant_id = ${tenantId} AND s.id = ${sourceId})
    || CASE WHEN parts > 1 THEN ' (' || part || '/' || parts || ')' ELSE '' END`
  const follow = joined(
    sql`UPDATE kb_doc SET embed_model = ${WAITING}, embed_after = ${now}, embed_attempts = 0,
      title =`,
    title,
    sql`WHERE tenant_id = ${tenantId} AND source_id = ${sourceId} AND stage = 'live'
      AND title <>`,
    title,
  )
  return withLock(['kb_doc', tenantId], follow)
}
