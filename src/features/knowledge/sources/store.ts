import { DAY_MS } from '../../../core/clock.ts'
import {
  SOURCE_MISSES_MAX,
  SOURCES_REFRESHED_MAX,
  SOURCES_WAITING_MAX,
} from '../../../core/limits/contract.ts'
import { SOURCES_FAILED_MAX } from '../../../core/limits/machine.ts'
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
import type { Refresh, Source, SourceState } from './model.ts'

/** The columns of a source that the work on it needs. */
export interface SourceRow {
  readonly id: string
  readonly tenant_id: string
  readonly kind: Source['kind']
  readonly title: string
  /** 1 when the title was given; the page's own title does not replace it. */
  readonly is_named: number
  readonly file_name: string
  readonly media_type: string
  readonly bytes: number
  readonly url: string | null
  readonly refresh: Refresh | null
  readonly state: SourceState
  /** Epoch milliseconds; null when no check is scheduled. */
  readonly due_at: number | null
  /** Failures of the embedder in a row. */
  readonly attempts: number
  readonly text_hash: string | null
  readonly etag: string | null
  readonly last_modified: string | null
}

export type NewSource = Pick<
  SourceRow,
  'id' | 'kind' | 'title' | 'is_named' | 'file_name' | 'media_type' | 'bytes' | 'url' | 'refresh'
> & { readonly created_at: string }

/** The version of a page, from its HTTP headers. */
export interface Version {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** What is stored of a source once its documents are. */
export interface Content extends Version {
  readonly title: string
  readonly mediaType: string
  readonly bytes: number
  readonly pages: number | null
  readonly hash: string
}

/** The time of a check, in both forms. */
export interface At {
  /** Epoch milliseconds. */
  readonly now: number
  readonly iso: string
}

const WEEK_MS = 7 * DAY_MS

export type SourceKey = Pick<SourceRow, 'tenant_id' | 'id'>

/** Files and pages that documents are made of. The column `due_at` is the work queue. */
export function createSourceStore(db: Db) {
  return {
    ...createReads(db),

    /**
     * Inserts a source and deletes the oldest failed ones beyond their limit. False when the tenant
     * has `SOURCES_WAITING_MAX` waiting sources, or too many that are refreshed.
     */
    insert: (tenantId: string, source: NewSource, now: number): Promise<boolean> =>
      storedAsExpected(
        db.batch([expectRows(1, insertRow(tenantId, source, now)), dropFailed(tenantId)]),
      ),

    setState: ({ tenant_id, id }: SourceKey, state: SourceState) =>
      db.run(
        sql`UPDATE kb_source SET state = ${state} WHERE tenant_id = ${tenant_id} AND id = ${id}`,
      ),

    /**
     * Makes a source ready in one batch with the statements that show its documents. False when the
     * tenant has no room for them, or the source was deleted.
     */
    show: (key: SourceKey, documents: readonly Statement[], content: Content, at: At) =>
      storedAsExpected(db.batch([...documents, expectRows(1, readyRow(key, content, at))])),

    /** Stores a check that found the same text. */
    unchanged: ({ tenant_id, id }: SourceKey, version: Version, { now, iso }: At) =>
      db.run(sql`UPDATE kb_source SET state = 'ready', etag = ${version.etag},
          last_modified = ${version.lastModified}, error_class = NULL, error = NULL,
          attempts = 0, misses = 0, checked_at = ${iso},
          due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`),

    /**
     * Stores a failure; a source with documents stays ready. `isMissing`: the page was not found.
     */
    failed: (
      { tenant_id, id }: SourceKey,
      failure: SourceFailure,
      isMissing: boolean,
      { now, iso }: At,
    ) =>
      db.run(sql`UPDATE kb_source SET
          state = CASE WHEN state IN ('queued', 'reading', 'embedding') THEN 'failed'
            WHEN state = 'ready' AND ${Number(isMissing)} = 1
              AND misses + 1 >= ${SOURCE_MISSES_MAX} THEN 'gone'
            ELSE state END,
          error_class = ${failure.errorClass}, error = ${failure.message},
          attempts = 0, misses = CASE ${Number(isMissing)} WHEN 1 THEN misses + 1 ELSE 0 END,
          checked_at = CASE kind WHEN 'url' THEN ${iso} END,
          due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`),

    /** Schedules another attempt at `until`. */
    postpone: ({ tenant_id, id }: SourceKey, until: number, { iso }: At) =>
      db.run(sql`UPDATE kb_source SET attempts = attempts + 1, due_at = ${until},
          checked_at = CASE kind WHEN 'url' THEN ${iso} END
        WHERE tenant_id = ${tenant_id} AND id = ${id}`),

    /** Makes a source due now. A failed one waits like a new one; false when too many wait. */
    askForCheck: async ({ tenant_id, id }: SourceKey, now: number): Promise<boolean> => {
      const asked = await db.run(locked(
        'kb_source',
        tenant_id,
      )`UPDATE kb_source SET attempts = 0, due_at = ${now},
          state = CASE state WHEN 'failed' THEN 'queued' ELSE state END
        WHERE tenant_id = ${tenant_id} AND id = ${id} AND kind = 'url'
          AND (state <> 'failed' OR (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenant_id}
            AND state IN ('queued', 'reading', 'embedding')) < ${SOURCES_WAITING_MAX})`)
      return asked.changes === 1
    },

    /** False when too many are refreshed already. A check that is due now stays due. */
    setRefresh: async (
      { tenant_id, id }: SourceKey,
      refresh: Refresh,
      next: number | null,
      now: number,
    ) => {
      const set = await db.run(locked(
        'kb_source',
        tenant_id,
      )`UPDATE kb_source SET refresh = ${refresh},
          due_at = CASE WHEN due_at <= ${now} OR state IN ('queued', 'reading', 'embedding')
            THEN due_at ELSE ${next} END
        WHERE tenant_id = ${tenant_id} AND id = ${id} AND kind = 'url'
          AND (${refresh} = 'off' OR refresh <> 'off'
            OR (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenant_id} AND refresh <> 'off')
              < ${SOURCES_REFRESHED_MAX})`)
      return set.changes === 1
    },

    /**
     * Deletes a source; `retire` hides its documents in the same batch. False when there is none.
     */
    async remove({ tenant_id, id }: SourceKey, retire: Statement): Promise<boolean> {
      const [removed] = await db.batch([
        sql`DELETE FROM kb_source WHERE tenant_id = ${tenant_id} AND id = ${id}`,
        retire,
      ])
      return removed?.changes === 1
    },

    /** Makes sources due again that an earlier server was working on. */
    async requeue(): Promise<void> {
      await db.run(sql`UPDATE kb_source SET state = 'queued', attempts = 0, due_at = 0
        WHERE state IN ('queued', 'reading', 'embedding')`)
    },
  }
}

export type SourceStore = ReturnType<typeof createSourceStore>

/** Sources as they are listed, with their documents. */
const listed = (now: number): Statement => sql`
  SELECT s.id, s.kind, s.title, s.media_type, s.bytes, s.url, s.refresh, s.state,
    s.error_class, s.error, s.pages, s.created_at, s.checked_at, s.changed_at,
    CASE WHEN s.attempts > 0 AND s.due_at > ${now} THEN s.due_at END AS retry_at,
    (SELECT string_agg(d.id || ':' || d.char_count, ',' ORDER BY d.part) FROM kb_doc d
      WHERE d.source_id = s.id AND d.tenant_id = s.tenant_id AND d.stage = 'live') AS docs
  FROM kb_source s`

function createReads(db: Db) {
  return {
    async list(tenantId: string, now: number): Promise<Source[]> {
      const rows = await db.all<ListedRow>(
        joined(
          listed(now),
          sql`WHERE s.tenant_id = ${tenantId} ORDER BY s.created_at DESC, s.id DESC`,
        ),
      )
      return rows.map(sourceOf)
    },

    /** Null when the tenant has no such source. */
    async get(tenantId: string, id: string, now: number): Promise<Source | null> {
      const row = await db.get<ListedRow>(
        joined(listed(now), sql`WHERE s.tenant_id = ${tenantId} AND s.id = ${id}`),
      )
      return row && sourceOf(row)
    },

    row: (tenantId: string, id: string) =>
      db.get<SourceRow>(sql`
        SELECT id, tenant_id, kind, title, is_named, file_name, media_type, bytes, url, refresh,
          state, due_at, attempts, text_hash, etag, last_modified
        FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** Sources that are due, the longest due first. */
    due: (now: number) =>
      db.all<SourceKey>(sql`
        SELECT tenant_id, id FROM kb_source WHERE due_at <= ${now} ORDER BY due_at, id`),

    /** How many sources wait or are being worked on for the first time. */
    waiting: () =>
      db.all<SourceKey & Pick<SourceRow, 'kind'>>(sql`
        SELECT tenant_id, id, kind FROM kb_source
        WHERE state IN ('queued', 'reading', 'embedding')`),

    async counts(tenantId: string): Promise<{ waiting: number; refreshed: number }> {
      const row = await db.get<{ waiting: number; refreshed: number }>(sql`
        SELECT count(*) FILTER (WHERE state IN ('queued', 'reading', 'embedding')) AS waiting,
          count(*) FILTER (WHERE refresh <> 'off') AS refreshed
        FROM kb_source WHERE tenant_id = ${tenantId}`)
      return { waiting: row?.waiting ?? 0, refreshed: row?.refreshed ?? 0 }
    },
  }
}

type ListedRow = Omit<Source, 'char_count' | 'doc_ids' | 'parts' | 'retry_at'> & {
  /** Epoch milliseconds. */
  readonly retry_at: number | null
  /** `id:chars` of each document, separated by commas; null when there is none. */
  readonly docs: string | null
}

function sourceOf({ docs, retry_at, ...row }: ListedRow): Source {
  const listed = (docs?.split(',') ?? []).map((doc) => doc.split(':'))
  const { created_at, checked_at, changed_at, ...rest } = row
  return {
    ...rest,
    char_count: listed.reduce((sum, [, chars]) => sum + Number(chars), 0),
    doc_ids: listed.map(([id = '']) => id),
    parts: listed.length,
    created_at,
    checked_at,
    changed_at,
    retry_at: retry_at === null ? null : new Date(retry_at).toISOString(),
  }
}

const readyRow = (
  { tenant_id, id }: SourceKey,
  content: Content,
  { now, iso }: At,
): Statement => sql`
  UPDATE kb_source SET state = 'ready', title = ${content.title},
    media_type = ${content.mediaType}, bytes = ${content.bytes}, pages = ${content.pages},
    text_hash = ${content.hash}, etag = ${content.etag}, last_modified = ${content.lastModified},
    error_class = NULL, error = NULL, attempts = 0, misses = 0,
    checked_at = CASE kind WHEN 'url' THEN ${iso} END,
    changed_at = CASE kind WHEN 'url' THEN ${iso} END,
    due_at = CASE refresh WHEN 'daily' THEN ${now + DAY_MS}
            WHEN 'weekly' THEN ${now + WEEK_MS} END
  WHERE tenant_id = ${tenant_id} AND id = ${id}`

const insertRow = (tenantId: string, source: NewSource, now: number): Statement => locked(
  'kb_source',
  tenantId,
)`
  INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type, bytes, url,
    refresh, state, created_at, due_at)
  SELECT ${source.id}, ${tenantId}, ${source.kind}, ${source.title}, ${source.is_named},
    ${source.file_name}, ${source.media_type}, ${source.bytes}, ${source.url}, ${source.refresh},
    'queued', ${source.created_at}, ${now}
  WHERE (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenantId}
      AND state IN ('queued', 'reading', 'embedding')) < ${SOURCES_WAITING_MAX}
    AND (coalesce(${source.refresh}, 'off') = 'off'
      OR (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenantId} AND refresh <> 'off')
        < ${SOURCES_REFRESHED_MAX})`

const dropFailed = (tenantId: string): Statement => locked('kb_source', tenantId)`
  DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND state = 'failed' AND id NOT IN (
    SELECT id FROM kb_source WHERE tenant_id = ${tenantId} AND state = 'failed'
    ORDER BY created_at DESC LIMIT ${SOURCES_FAILED_MAX})`
