import { type Collections, NO_COLLECTION } from '../../../storage/collections.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
  textRows,
} from '../../../storage/db.ts'
import type { Collection, CollectionRequest } from './model.ts'

/** Names of deleted collections that are kept for exports, the newest. */
const GONE_MAX = 500

/** What decides which documents a key reads. */
interface BoundRow {
  readonly app_id: string | null
  readonly of_app: string | null
  readonly of_tenant: string | null
}

const listOf = (json: string | null): Collections =>
  json === null ? null : (JSON.parse(json) as string[])

const counted = sql`
  SELECT c.id, c.name, c.description,
    (SELECT count(*) FROM kb_doc d WHERE d.tenant_id = c.tenant_id AND d.stage = 'live'
      AND d.collection_id = c.id) AS doc_count,
    (SELECT count(*) FROM kb_source s WHERE s.tenant_id = c.tenant_id AND s.kind IN ('file', 'url')
      AND s.collection_id = c.id) AS source_count,
    c.created_at
  FROM kb_collection c`

/** Collections by tenant. A deleted one keeps its name, and no document. */
export function createCollectionStore(db: Db) {
  return {
    ...createReads(db),

    /** False at `max` collections, and where another one has the name. */
    async insert(
      tenantId: string,
      { id, name, description, created_at }: Omit<Collection, 'doc_count' | 'source_count'>,
      max: number,
    ): Promise<boolean> {
      const { changes } = await db.run(locked('kb_collection', tenantId)`
        INSERT INTO kb_collection (id, tenant_id, name, description, created_at)
        SELECT ${id}, ${tenantId}, ${name}, ${description}, ${created_at}
        WHERE (SELECT count(*) FROM kb_collection WHERE tenant_id = ${tenantId} AND gone = 0)
            < ${max}
          AND NOT EXISTS (SELECT 1 FROM kb_collection
            WHERE tenant_id = ${tenantId} AND name = ${name} AND gone = 0)`)
      return changes === 1
    },

    /** False where there is none, and where another one has the name. */
    async replace(tenantId: string, id: string, { name, description }: CollectionRequest) {
      const { changes } = await db.run(locked('kb_collection', tenantId)`
        UPDATE kb_collection SET name = ${name}, description = ${description}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND gone = 0
          AND NOT EXISTS (SELECT 1 FROM kb_collection other
            WHERE other.tenant_id = ${tenantId} AND other.name = ${name} AND other.gone = 0
              AND other.id <> ${id})`)
      return changes === 1
    },

    /**
     * Deletes a collection; its documents belong to none, or are hidden and swept, with their
     * sources. False when there is none. The locks keep out an upload into it.
     */
    remove(tenantId: string, id: string, withDocs: boolean): Promise<boolean> {
      const members = withDocs ? removeMembers(tenantId, id) : freeMembers(tenantId, id)
      const gone = sql`UPDATE kb_collection SET gone = 1
        WHERE tenant_id = ${tenantId} AND id = ${id} AND gone = 0`
      const forget = locked('kb_collection', tenantId)`
        DELETE FROM kb_collection WHERE tenant_id = ${tenantId} AND gone = 1 AND id NOT IN (
          SELECT id FROM kb_collection WHERE tenant_id = ${tenantId} AND gone = 1
          ORDER BY id DESC LIMIT ${GONE_MAX})`
      return storedAsExpected(db.batch([expectRows(1, gone), ...members, forget]))
    },
  }
}

export type CollectionStore = ReturnType<typeof createCollectionStore>

/** A file loses its origin where one without a collection has it. */
const freeMembers = (tenantId: string, id: string): Statement[] => [
  locked('kb_doc', tenantId)`UPDATE kb_doc SET collection_id = ${NO_COLLECTION}
    WHERE tenant_id = ${tenantId} AND collection_id = ${id}`,
  locked('kb_source', tenantId)`UPDATE kb_source SET collection_id = ${NO_COLLECTION},
      origin = CASE WHEN EXISTS (SELECT 1 FROM kb_source o WHERE o.tenant_id = ${tenantId}
        AND o.origin = kb_source.origin AND o.kind = 'file'
        AND o.collection_id = ${NO_COLLECTION}) THEN NULL ELSE origin END
    WHERE tenant_id = ${tenantId} AND collection_id = ${id}`,
]

const removeMembers = (tenantId: string, id: string): Statement[] => [
  locked('kb_doc', tenantId)`UPDATE kb_doc SET stage = 'old'
    WHERE tenant_id = ${tenantId} AND (collection_id = ${id} OR source_id IN (
      SELECT id FROM kb_source WHERE tenant_id = ${tenantId} AND collection_id = ${id}))`,
  locked('kb_source', tenantId)`DELETE FROM kb_source
    WHERE tenant_id = ${tenantId} AND collection_id = ${id}`,
]

function createReads(db: Db) {
  return {
    /** Newest first, those of `seen` alone. */
    list: (tenantId: string, seen: Collections, before: string | null, limit: number) =>
      db.all<Collection>(
        joined(
          counted,
          sql`WHERE c.tenant_id = ${tenantId} AND c.gone = 0
            AND (${seen === null ? 1 : 0} = 1 OR c.id IN (
              SELECT w.value ->> 0 FROM json_each(${textRows(seen ?? [])}) w))
            AND (CAST(${before} AS TEXT) IS NULL OR c.id < ${before})
            ORDER BY c.id DESC LIMIT ${limit}`,
        ),
      ),

    find: (tenantId: string, id: string) =>
      db.get<Collection>(
        joined(counted, sql`WHERE c.tenant_id = ${tenantId} AND c.id = ${id} AND c.gone = 0`),
      ),

    /** The id of the living one that has the name. */
    async named(tenantId: string, name: string): Promise<string | null> {
      const row = await db.get<{ id: string }>(sql`SELECT id FROM kb_collection
        WHERE tenant_id = ${tenantId} AND name = ${name} AND gone = 0`)
      return row?.id ?? null
    },

    /** Which of the ids are those of living collections. */
    async living(tenantId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await db.all<{ id: string }>(sql`SELECT id FROM kb_collection
        WHERE tenant_id = ${tenantId} AND gone = 0
          AND id IN (SELECT w.value ->> 0 FROM json_each(${textRows(ids)}) w)`)
      return new Set(rows.map(({ id }) => id))
    },

    /** Names by id, also of deleted ones. */
    names: (tenantId: string) =>
      db.all<{ id: string; name: string; gone: number }>(sql`
        SELECT id, name, gone FROM kb_collection WHERE tenant_id = ${tenantId}
        ORDER BY id`),

    /** Sources of a collection, whose work ends with it. */
    async sources(tenantId: string, id: string): Promise<string[]> {
      const rows = await db.all<{ id: string }>(sql`SELECT id FROM kb_source
        WHERE tenant_id = ${tenantId} AND collection_id = ${id}`)
      return rows.map((row) => row.id)
    },

    /**
     * The collections of an assistant: the app's list, also where it is null; those of the tenant's
     * settings without an app, or with one that was deleted.
     */
    async ofAssistant(tenantId: string, appId: string | null): Promise<Collections> {
      const row = await db.get<BoundRow>(sql`
        SELECT a.id AS app_id, a.collections AS of_app, s.collections AS of_tenant
        FROM tenant t
          LEFT JOIN app a ON a.tenant_id = t.id AND a.id = ${appId}
          LEFT JOIN tenant_settings s ON s.tenant_id = t.id
        WHERE t.id = ${tenantId}`)
      if (row === null) return []
      return listOf(row.app_id === null ? row.of_tenant : row.of_app)
    },
  }
}
