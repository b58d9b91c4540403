import { SOURCES_REFRESHED_MAX, SOURCES_WAITING_MAX } from '../../../core/limits/contract.ts'
import { SOURCES_FAILED_MAX } from '../../../core/limits/machine.ts'
import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import { createListStore } from './list-store.ts'
import type { Refresh } from './model.ts'
import type { SourceKey, SourceRow } from './row.ts'
import { dropVersions } from './version-store.ts'
import { createWorkStore } from './work-store.ts'

export type NewSource = Pick<
  SourceRow,
  | 'id'
  | 'kind'
  | 'title'
  | 'is_named'
  | 'file_name'
  | 'media_type'
  | 'bytes'
  | 'url'
  | 'refresh'
  | 'collection_id'
> &
  Partial<Pick<SourceRow, 'origin' | 'sha256' | 'replaces' | 'key_id' | 'app_id' | 'user_id'>> & {
    readonly created_at: string
  }

/** Files and pages that documents are made of: what people change of them, their list, the work. */
export function createSourceStore(db: Db) {
  return {
    ...createListStore(db),
    ...createWorkStore(db),

    /**
     * Inserts a source and deletes the oldest failed ones beyond their limit. False when the tenant
     * has `SOURCES_WAITING_MAX` waiting sources, or too many that are refreshed, when the origin is
     * there, or what a version replaces is not, or when one of `also`, which are stored with it,
     * does not change the rows that it expects.
     */
    insert: (
      tenantId: string,
      source: NewSource,
      now: number,
      also: readonly Statement[] = [],
    ): Promise<boolean> =>
      storedAsExpected(
        db.batch([expectRows(1, insertRow(tenantId, source, now)), ...also, dropFailed(tenantId)]),
      ),

    async counts(tenantId: string): Promise<{ waiting: number; refreshed: number }> {
      const row = await db.get<{ waiting: number; refreshed: number }>(sql`
        SELECT count(*) FILTER (WHERE state IN ('queued', 'reading', 'embedding')
            OR spooled_until IS NOT NULL) AS waiting,
          count(*) FILTER (WHERE refresh <> 'off') AS refreshed
        FROM kb_source WHERE tenant_id = ${tenantId}`)
      return { waiting: row?.waiting ?? 0, refreshed: row?.refreshed ?? 0 }
    },

    /** Makes a source due now. A failed one waits like a new one; false when too many wait. */
    askForCheck: async ({ tenant_id, id }: SourceKey, now: number): Promise<boolean> => {
      const asked = await db.run(locked(
        'kb_source',
        tenant_id,
      )`UPDATE kb_source SET attempts = 0, due_at = ${now},
          state = CASE state WHEN 'failed' THEN 'queued' ELSE state END
        WHERE tenant_id = ${tenant_id} AND id = ${id} AND kind = 'url'
          AND (state <> 'failed' OR (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenant_id}
            AND (state IN ('queued', 'reading', 'embedding') OR spooled_until IS NOT NULL))
            < ${SOURCES_WAITING_MAX})`)
      return asked.changes === 1
    },

    /** Makes a failed file that is still in the spool wait again; false when it no longer is. */
    readAgain: async ({ tenant_id, id }: SourceKey, now: number): Promise<boolean> => {
      const asked = await db.run(sql`
        UPDATE kb_source SET state = 'queued', attempts = 0, due_at = ${now},
          spooled_until = NULL, error_class = NULL, error = NULL
        WHERE tenant_id = ${tenant_id} AND id = ${id} AND state = 'failed'
          AND spooled_until > ${now}`)
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
     * Moves a source with all its parts, also those that are still read. False when the view has no
     * such source, there is no such collection, or it has a file of the same origin.
     */
    move({ tenantId, collections }: KbView, id: string, to: string): Promise<boolean> {
      const move = joined(
        locked('kb_source', tenantId)`UPDATE kb_source SET collection_id = ${to}
        WHERE tenant_id = ${tenantId} AND id = ${id}
          AND (${to} = ${NO_COLLECTION} OR EXISTS (SELECT 1 FROM kb_collection
            WHERE tenant_id = ${tenantId} AND id = ${to} AND gone = 0))
          AND NOT EXISTS (SELECT 1 FROM kb_source o WHERE o.tenant_id = ${tenantId}
            AND o.origin = kb_source.origin AND o.kind = 'file' AND o.collection_id = ${to}
            AND o.id <> ${id})`,
        within('collection_id', collections),
      )
      const parts = locked('kb_doc', tenantId)`UPDATE kb_doc SET collection_id = ${to}
        WHERE tenant_id = ${tenantId} AND source_id = ${id}`
      const versions = locked('kb_source', tenantId)`UPDATE kb_source SET collection_id = ${to}
        WHERE tenant_id = ${tenantId} AND replaces = ${id}`
      return storedAsExpected(db.batch([expectRows(1, move), parts, versions]))
    },

    /**
     * Renames a source, also a version of it that is still read; `follows` renames its documents in
     * the same batch. False when the view has none.
     */
    rename(
      { tenantId, collections }: KbView,
      id: string,
      title: string,
      follows: Statement,
    ): Promise<boolean> {
      const rename = joined(
        locked('kb_source', tenantId)`UPDATE kb_source SET title = ${title}, is_named = 1
        WHERE tenant_id = ${tenantId} AND id = ${id}`,
        within('collection_id', collections),
      )
      const versions = sql`UPDATE kb_source SET title = ${title}
        WHERE tenant_id = ${tenantId} AND replaces = ${id}`
      return storedAsExpected(db.batch([expectRows(1, rename), versions, follows]))
    },

    /**
     * Deletes a source; `retire` hides its documents in the same batch. False when the view has
     * none.
     */
    remove({ tenantId, collections }: KbView, id: string, retire: Statement): Promise<boolean> {
      const remove = joined(
        sql`DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${id}`,
        within('collection_id', collections),
      )
      const batch = db.batch([expectRows(1, remove), retire, dropVersions(tenantId, id)])
      return storedAsExpected(batch)
    },
  }
}

export type SourceStore = ReturnType<typeof createSourceStore>

const insertRow = (tenantId: string, source: NewSource, now: number): Statement => locked(
  'kb_source',
  tenantId,
)`
  INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type, bytes, url,
    refresh, state, created_at, due_at, collection_id, origin, sha256, replaces, key_id,
    app_id, user_id)
  SELECT ${source.id}, ${tenantId}, ${source.kind}, ${source.title}, ${source.is_named},
    ${source.file_name}, ${source.media_type}, ${source.bytes}, ${source.url}, ${source.refresh},
    'queued', ${source.created_at}, ${now}, ${source.collection_id}, ${source.origin ?? null},
    ${source.sha256 ?? null}, ${source.replaces ?? null}, ${source.key_id ?? null},
    ${source.app_id ?? null}, ${source.user_id ?? null}
  WHERE (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenantId}
      AND (state IN ('queued', 'reading', 'embedding') OR spooled_until IS NOT NULL))
        < ${SOURCES_WAITING_MAX}
    AND (${source.collection_id} = ${NO_COLLECTION} OR EXISTS (SELECT 1 FROM kb_collection
      WHERE tenant_id = ${tenantId} AND id = ${source.collection_id} AND gone = 0))
    AND (CAST(${source.origin ?? null} AS TEXT) IS NULL OR NOT EXISTS (SELECT 1 FROM kb_source
      WHERE tenant_id = ${tenantId} AND origin = ${source.origin ?? null} AND kind = 'file'
        AND collection_id = ${source.collection_id}))
    AND (CAST(${source.replaces ?? null} AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM kb_source
      WHERE tenant_id = ${tenantId} AND id = ${source.replaces ?? null}
        AND collection_id = ${source.collection_id}))
    AND (coalesce(${source.refresh}, 'off') = 'off'
      OR (SELECT count(*) FROM kb_source WHERE tenant_id = ${tenantId} AND refresh <> 'off')
        < ${SOURCES_REFRESHED_MAX})`

const dropFailed = (tenantId: string): Statement => locked('kb_source', tenantId)`
  DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND state = 'failed' AND kind <> 'chat'
    AND spooled_until IS NULL
    AND id NOT IN (SELECT replaces FROM kb_source
      WHERE tenant_id = ${tenantId} AND replaces IS NOT NULL)
    AND id NOT IN (SELECT id FROM kb_source
    WHERE tenant_id = ${tenantId} AND state = 'failed' AND kind <> 'chat'
    ORDER BY created_at DESC LIMIT ${SOURCES_FAILED_MAX})`
