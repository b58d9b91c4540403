import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import { type Db, joined, type Statement, sql, textRows } from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import type { Source } from './model.ts'

/**
 * Sources as they are listed: with their documents, and as far as their newest version is, where
 * one is in work (`v`). The empty text keeps SQLite from looking for the documents of each source
 * through all of the tenant: ten thousand took seven seconds.
 */
const listed = (now: number): Statement => sql`
  SELECT s.id, s.kind, s.title, s.media_type, s.bytes, s.url, s.refresh, s.origin, s.sha256,
    coalesce(v.state, s.state) AS state, s.error_class, s.error,
    coalesce(v.pages, s.pages) AS pages, s.ocr_pages, s.pages_unread,
    CASE WHEN v.id IS NULL THEN s.pages_done ELSE v.pages_done END AS pages_done,
    s.spooled_until, s.created_at, s.checked_at, s.changed_at,
    nullif(s.collection_id, ${NO_COLLECTION}) AS collection_id,
    CASE WHEN coalesce(v.attempts, s.attempts) > 0 AND coalesce(v.due_at, s.due_at) > ${now}
      THEN coalesce(v.due_at, s.due_at) END AS retry_at,
    (SELECT string_agg(d.id || ':' || d.char_count, ',' ORDER BY d.part) FROM kb_doc d
      WHERE d.source_id = s.id AND d.tenant_id || '' = s.tenant_id
        AND d.stage || '' = 'live') AS docs
  FROM kb_source s LEFT JOIN kb_source v ON v.tenant_id = s.tenant_id AND v.replaces = s.id
    AND NOT EXISTS (SELECT 1 FROM kb_source n
      WHERE n.tenant_id = s.tenant_id AND n.replaces = s.id AND n.id > v.id)`

/** Sources as people look at them. */
export function createListStore(db: Db) {
  return {
    /** `prefix`: those whose origin begins with it. */
    async list(
      { tenantId, collections }: KbView,
      now: number,
      prefix: string | null = null,
    ): Promise<Source[]> {
      const rows = await db.all<ListedRow>(
        joined(
          listed(now),
          sql`WHERE s.tenant_id = ${tenantId} AND s.kind IN ('file', 'url')`,
          within('s.collection_id', collections),
          prefix === null
            ? sql``
            : sql`AND substr(s.origin, 1, length(CAST(${prefix} AS TEXT))) = ${prefix}`,
          sql`ORDER BY s.created_at DESC, s.id DESC`,
        ),
      )
      return rows.map(sourceOf)
    },

    /** Those of the tenant's sources that are there, in any order. */
    async some(tenantId: string, ids: readonly string[], now: number): Promise<Source[]> {
      const rows = await db.all<ListedRow>(
        joined(
          listed(now),
          sql`WHERE s.tenant_id = ${tenantId} AND s.kind IN ('file', 'url')
            AND s.id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`,
        ),
      )
      return rows.map(sourceOf)
    },

    /** Null when the view has no such source. */
    async get({ tenantId, collections }: KbView, id: string, now: number): Promise<Source | null> {
      const row = await db.get<ListedRow>(
        joined(
          listed(now),
          sql`WHERE s.tenant_id = ${tenantId} AND s.id = ${id}
          AND s.kind IN ('file', 'url')`,
          within('s.collection_id', collections),
        ),
      )
      return row && sourceOf(row)
    },
  }
}

type Told = 'pages_done' | 'pages_unread' | 'readable_until'

type ListedRow = Omit<Source, 'char_count' | 'doc_ids' | 'parts' | 'retry_at' | Told> & {
  /** Epoch milliseconds. */
  readonly retry_at: number | null
  /** `id:chars` of each document, separated by commas; null when there is none. */
  readonly docs: string | null
  readonly pages_done: number | null
  readonly pages_unread: number
  /** Epoch milliseconds. */
  readonly spooled_until: number | null
}

function sourceOf(listedRow: ListedRow): Source {
  const { docs, retry_at, pages_done, pages_unread, spooled_until, ...row } = listedRow
  const listed = (docs?.split(',') ?? []).map((doc) => doc.split(':'))
  const { created_at, checked_at, changed_at, ...rest } = row
  return {
    ...rest,
    ...(row.state !== 'ready' && pages_done !== null ? { pages_done } : {}),
    ...(pages_unread > 0 ? { pages_unread } : {}),
    ...(spooled_until === null ? {} : { readable_until: new Date(spooled_until).toISOString() }),
    char_count: listed.reduce((sum, [, chars]) => sum + Number(chars), 0),
    doc_ids: listed.map(([id = '']) => id),
    parts: listed.length,
    created_at,
    checked_at,
    changed_at,
    retry_at: retry_at === null ? null : new Date(retry_at).toISOString(),
  }
}
