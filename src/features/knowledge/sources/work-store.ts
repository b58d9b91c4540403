import { DAY_MS } from '../../../core/clock.ts'
import { SOURCE_MISSES_MAX } from '../../../core/limits/contract.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../../storage/db.ts'
import type { SourceFailure } from './failure.ts'
import type { SourceState } from './model.ts'
import type { SourceKey, SourceRow } from './row.ts'
import { failVersion } from './version-store.ts'

/** The version of a page, from its HTTP headers. */
export interface Version {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** What is stored of a source once its documents are. */
export interface Content extends Version {
  /** Of a page that nobody has named; else the title of the row `from` holds. */
  readonly title: string
  /** The row that was read: the source, or a version of it. */
  readonly from: string
  readonly mediaType: string
  readonly bytes: number
  readonly pages: number | null
  /** Of them: that a model has read from their pictures, and that none will. */
  readonly scanned: number
  readonly unread: number
  readonly hash: string
}

/** The time of a check, in both forms. */
export interface At {
  /** Epoch milliseconds. */
  readonly now: number
  readonly iso: string
}

const WEEK_MS = 7 * DAY_MS

/** Of a source that has no documents yet. */
export const isWaitingState = sql`state IN ('queued', 'reading', 'embedding')`
/** Of a page that is not found once more than it may be. */
export const isGoneAfter = sql`state = 'ready' AND misses + 1 >= ${SOURCE_MISSES_MAX}`

/** The work on sources: what is due, and what came of it. The column `due_at` is the queue. */
export function createWorkStore(db: Db) {
  return {
    row: (tenantId: string, id: string) =>
      db.get<SourceRow>(sql`
        SELECT id, tenant_id, kind, title, is_named, file_name, media_type, bytes, url, refresh,
          state, due_at, attempts, text_hash, etag, last_modified, collection_id, origin, sha256,
          replaces, key_id, app_id, user_id, spooled_until
        FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** Sources that are due, the longest due first. A version waits until its source is read. */
    due: (now: number) =>
      db.all<SourceKey>(sql`
        SELECT tenant_id, id FROM kb_source s WHERE due_at <= ${now}
          AND (replaces IS NULL OR NOT EXISTS (SELECT 1 FROM kb_source b
            WHERE b.id = s.replaces AND b.state IN ('queued', 'reading', 'embedding')))
        ORDER BY due_at, id`),

    /** Sources that wait or are being worked on for the first time. */
    waiting: () =>
      db.all<SourceKey & Pick<SourceRow, 'kind'>>(sql`
        SELECT tenant_id, id, kind FROM kb_source
        WHERE state IN ('queued', 'reading', 'embedding')`),

    /** Failed files that are kept in the spool; `before`: those whose time is over by then. */
    spooled: (before: number | null = null) =>
      db.all<Pick<SourceKey, 'id'>>(sql`
        SELECT id FROM kb_source WHERE spooled_until IS NOT NULL
          AND spooled_until <= coalesce(CAST(${before} AS BIGINT), spooled_until)`),

    /** Lets a failed file go. False when it is read again meanwhile. */
    async unspool(id: string, before: number): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE kb_source SET spooled_until = NULL
        WHERE id = ${id} AND spooled_until <= ${before}`)
      return changes === 1
    },

    setState: ({ tenant_id, id }: SourceKey, state: SourceState) =>
      db.run(
        sql`UPDATE kb_source SET state = ${state} WHERE tenant_id = ${tenant_id} AND id = ${id}`,
      ),

    /**
     * Makes a source ready in one batch with the statements that show its documents. False when the
     * tenant has no room for them, or the source was deleted.
     */
    show: (
      key: SourceKey,
      documents: readonly Statement[],
      content: Content,
      at: At,
      also: readonly Statement[] = [],
    ) =>
      storedAsExpected(
        db.batch([...documents, expectRows(1, readyRow(key, content, at)), ...also]),
      ),

    /** Stores a check that found the same text, after the statements of `before`. */
    unchanged: (
      { tenant_id, id }: SourceKey,
      version: Version,
      { now, iso }: At,
      before: readonly Statement[],
    ) =>
      db.batch([
        ...before,
        sql`UPDATE kb_source SET state = 'ready', etag = ${version.etag},
          last_modified = ${version.lastModified}, error_class = NULL, error = NULL,
          attempts = 0, misses = 0, checked_at = ${iso},
          due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`,
      ]),

    /**
     * Stores a failure after the statements of `before`; a source with documents stays ready.
     * `isMissing`: the page was not found. `until`: a file of the knowledge base stays in the
     * spool.
     */
    failed: (
      { tenant_id, id }: SourceKey,
      failure: SourceFailure,
      isMissing: boolean,
      { now, iso }: At,
      until: number | null,
      before: readonly Statement[],
    ) =>
      db.batch([
        ...before,
        sql`UPDATE kb_source SET
          state = CASE WHEN state IN ('queued', 'reading', 'embedding') THEN 'failed'
            WHEN state = 'ready' AND ${Number(isMissing)} = 1
              AND misses + 1 >= ${SOURCE_MISSES_MAX} THEN 'gone'
            ELSE state END,
          error_class = ${failure.errorClass}, error = ${failure.message},
          spooled_until = CASE WHEN kind <> 'url' THEN CAST(${until} AS BIGINT) END,
          attempts = 0, misses = CASE ${Number(isMissing)} WHEN 1 THEN misses + 1 ELSE 0 END,
          checked_at = CASE kind WHEN 'url' THEN ${iso} END,
          due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`,
        ...failVersion({ tenant_id, id }, failure),
      ]),

    /** Schedules another attempt at `until`. */
    postpone: ({ tenant_id, id }: SourceKey, until: number, { iso }: At) =>
      db.run(sql`UPDATE kb_source SET attempts = attempts + 1, due_at = ${until},
          checked_at = CASE kind WHEN 'url' THEN ${iso} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`),

    /** Makes sources due again that an earlier server was working on. */
    async requeue(): Promise<void> {
      await db.run(sql`UPDATE kb_source SET state = 'queued', attempts = 0, due_at = 0
        WHERE state IN ('queued', 'reading', 'embedding')`)
    },
  }
}

/** Whether a file or page of the knowledge base is so now; not a version of one. */
export const isNow = ({ tenant_id, id }: SourceKey, state: Statement): Statement =>
  joined(
    sql`EXISTS (SELECT 1 FROM kb_source WHERE tenant_id = ${tenant_id} AND id = ${id}
      AND kind IN ('file', 'url') AND`,
    state,
    sql`)`,
  )

const readyRow = (
  { tenant_id, id }: SourceKey,
  content: Content,
  { now, iso }: At,
): Statement => locked('kb_source', tenant_id)`
  UPDATE kb_source SET state = 'ready',
    title = coalesce((SELECT v.title FROM kb_source v
      WHERE v.tenant_id = ${tenant_id} AND v.id = ${content.from} AND v.is_named = 1),
      ${content.title}),
    media_type = ${content.mediaType}, bytes = ${content.bytes}, pages = ${content.pages},
    pages_done = ${content.pages}, ocr_pages = ${content.scanned},
    pages_unread = ${content.unread},
    text_hash = ${content.hash}, etag = ${content.etag}, last_modified = ${content.lastModified},
    error_class = NULL, error = NULL, attempts = 0, misses = 0,
    checked_at = CASE kind WHEN 'url' THEN ${iso} END,
    changed_at = CASE kind WHEN 'url' THEN ${iso} END,
    due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
  WHERE tenant_id = ${tenant_id} AND id = ${id}`
