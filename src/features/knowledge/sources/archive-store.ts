import { NO_COLLECTION } from '../../../storage/collections.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../../storage/db.ts'
import { REFRESH_MS } from './model.ts'
import type { SourceKey, SourceRow } from './row.ts'

/** A source as an export carries it. */
export interface CarriedSource
  extends Pick<
    SourceRow,
    'title' | 'is_named' | 'file_name' | 'media_type' | 'bytes' | 'url' | 'refresh'
  > {
  readonly kind: 'file' | 'url'
  /** `gone`: the page has vanished, and its documents stay. */
  readonly state: 'ready' | 'gone'
  readonly pages: number | null
  readonly ocr_pages: number
  readonly pages_unread: number
  readonly text_hash: string | null
  readonly created_at: string
  readonly checked_at: string | null
  readonly changed_at: string | null
  /** The id of a collection, or `none`. */
  readonly collection_id: string
}

export interface KnownSource extends Pick<SourceRow, 'id' | 'title' | 'url'> {
  readonly kind: CarriedSource['kind']
}

interface Publish {
  readonly show: readonly Statement[]
  /** The source that is replaced, with the statement that hides its documents. */
  readonly replaces: { readonly id: string; readonly retire: Statement } | null
  /** Epoch milliseconds. */
  readonly now: number
}

/** Reads sources for an export, and stores those of an import. */
export function createSourceArchiveStore(db: Db) {
  return {
    /** A source for an export; null when it was deleted meanwhile. */
    carried: (tenantId: string, id: string) =>
      db.get<CarriedSource>(sql`
        SELECT kind, title, is_named, file_name, media_type, bytes, url, refresh, pages,
          ocr_pages, pages_unread, text_hash,
          CASE state WHEN 'gone' THEN 'gone' ELSE 'ready' END AS state,
          created_at, checked_at, changed_at, collection_id
        FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** Pages without documents. */
    unreadPages: (tenantId: string) =>
      db.all<Pick<SourceRow, 'id'>>(sql`
        SELECT s.id FROM kb_source s WHERE s.tenant_id = ${tenantId} AND s.kind = 'url'
          AND NOT EXISTS (SELECT 1 FROM kb_doc d WHERE d.source_id = s.id AND d.stage = 'live')
        ORDER BY s.created_at, s.id`),

    /** All sources of a tenant, oldest first. */
    known: (tenantId: string) =>
      db.all<KnownSource>(sql`
        SELECT id, kind, title, url FROM kb_source
        WHERE tenant_id = ${tenantId} AND kind IN ('file', 'url') ORDER BY created_at, id`),

    /**
     * Stores a source in one batch with the statements that show its documents, and removes the one
     * that it replaces. False when the tenant has no room for the documents.
     */
    publish({ tenant_id, id }: SourceKey, source: CarriedSource, { show, replaces, now }: Publish) {
      const remove = (old: string) =>
        sql`DELETE FROM kb_source WHERE tenant_id = ${tenant_id} AND id = ${old}`
      const removed = replaces === null ? [] : [replaces.retire, remove(replaces.id)]
      const inserted = expectRows(1, insertRow({ tenant_id, id }, source, now))
      return storedAsExpected(db.batch([...removed, inserted, ...show]))
    },
  }
}

export type SourceArchiveStore = ReturnType<typeof createSourceArchiveStore>

/** Inserts the source; its page is checked after a whole period. */
function insertRow({ tenant_id, id }: SourceKey, source: CarriedSource, now: number): Statement {
  const { refresh } = source
  const every = refresh === null ? null : REFRESH_MS[refresh]
  return locked('kb_source', tenant_id)`
    INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type, bytes, url,
      refresh, state, pages, pages_done, ocr_pages, pages_unread, text_hash, created_at,
      checked_at, changed_at, due_at, collection_id)
    VALUES (${id}, ${tenant_id}, ${source.kind}, ${source.title}, ${source.is_named},
      ${source.file_name}, ${source.media_type}, ${source.bytes}, ${source.url}, ${refresh},
      ${source.state}, ${source.pages}, ${source.pages}, ${source.ocr_pages},
      ${source.pages_unread}, ${source.text_hash}, ${source.created_at}, ${source.checked_at},
      ${source.changed_at}, ${every === null ? null : now + every},
      coalesce((SELECT id FROM kb_collection WHERE tenant_id = ${tenant_id}
        AND id = ${source.collection_id} AND gone = 0), ${NO_COLLECTION}))`
}
