import { type Db, expectRows, locked, type Statement, sql } from '../../../storage/db.ts'
import type { SourceFailure } from './failure.ts'
import type { SourceState } from './model.ts'
import type { SourceKey } from './row.ts'

/**
 * New versions of files. A version is a row of its own beside its source while it is read: the
 * source keeps its documents until those of the version replace them, all at once. Ids grow with
 * time: of versions that come at once the one with the largest id is the newest.
 */

/** The source that an origin names. */
export interface Present {
  readonly id: string
  readonly state: SourceState
  readonly errorClass: string | null
  readonly sha256: string | null
  readonly title: string
  readonly fileName: string
  /** Its versions that are not read yet, the newest first. */
  readonly coming: readonly { readonly id: string; readonly sha256: string | null }[]
}

/** Failures that are not the file's own: the same bytes may be read the next time. */
const PASSING: ReadonlySet<string | null> = new Set([
  'upstream',
  'interrupted',
  'internal',
  'quota',
  'budget',
  'no_vision',
])

/** Whether the source has these bytes already, or will have them. */
export function isSame({ state, errorClass, sha256, coming }: Present, hash: string): boolean {
  const [newest] = coming
  if (newest) return newest.sha256 === hash
  return sha256 === hash && !(state === 'failed' && PASSING.has(errorClass))
}

export function createVersionStore(db: Db) {
  return {
    /** The source that has the origin in the collection. */
    async byOrigin(tenantId: string, collection: string, origin: string): Promise<Present | null> {
      const row = await db.get<Omit<Present, 'coming'>>(sql`
        SELECT id, state, error_class AS "errorClass", sha256, title, file_name AS "fileName"
        FROM kb_source
        WHERE tenant_id = ${tenantId} AND origin = ${origin} AND kind = 'file'
          AND collection_id = ${collection}
        ORDER BY created_at DESC, id DESC LIMIT 1`)
      return row && { ...row, coming: await this.of({ tenant_id: tenantId, id: row.id }) }
    },

    /** The versions of a source, the newest first. */
    of: ({ tenant_id, id }: SourceKey) =>
      db.all<{ id: string; sha256: string | null }>(sql`
        SELECT id, sha256 FROM kb_source
        WHERE tenant_id = ${tenant_id} AND replaces = ${id} ORDER BY id DESC`),

    /** Removes a version whose source has gone. */
    drop: async ({ tenant_id, id }: SourceKey): Promise<void> => {
      await db.run(dropVersion(tenant_id, id))
    },
  }
}

export type VersionStore = ReturnType<typeof createVersionStore>

/** Removes the versions of a source. */
export const dropVersions = (tenantId: string, id: string): Statement =>
  sql`DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND replaces = ${id}`

/** Removes one version. */
const dropVersion = (tenantId: string, id: string): Statement =>
  sql`DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${id} AND kind = 'version'`

/** Removes the versions of a source that this one overtakes, also those that are being read. */
export const dropOlder = ({ tenant_id, id }: SourceKey, of: string): Statement =>
  sql`DELETE FROM kb_source WHERE tenant_id = ${tenant_id} AND replaces = ${of} AND id < ${id}`

/** Notes at a source that its version cannot be read, and removes the version. */
export const failVersion = (
  { tenant_id, id }: SourceKey,
  { errorClass, message }: SourceFailure,
): Statement[] => [
  locked(
    'kb_source',
    tenant_id,
  )`UPDATE kb_source SET error_class = ${errorClass}, error = ${message}
    WHERE tenant_id = ${tenant_id} AND id = (SELECT v.replaces FROM kb_source v
      WHERE v.tenant_id = ${tenant_id} AND v.id = ${id} AND v.kind = 'version')`,
  dropVersion(tenant_id, id),
]

/** Makes the new documents of a version those of its source. */
export const handOver = ({ tenant_id, id }: SourceKey, to: string): Statement =>
  sql`UPDATE kb_doc SET source_id = ${to}
    WHERE tenant_id = ${tenant_id} AND source_id = ${id} AND stage = 'new'`

/**
 * Ends a version whose source has its documents, and all older ones. Fails when the version was
 * dropped meanwhile.
 */
export const endVersion = ({ tenant_id, id }: SourceKey, of: string): Statement[] => [
  expectRows(
    1,
    locked(
      'kb_source',
      tenant_id,
    )`UPDATE kb_source SET (sha256, file_name) = (SELECT v.sha256, v.file_name FROM kb_source v
        WHERE v.tenant_id = ${tenant_id} AND v.id = ${id})
      WHERE tenant_id = ${tenant_id} AND id = ${of}
        AND EXISTS (SELECT 1 FROM kb_source WHERE tenant_id = ${tenant_id} AND id = ${id})`,
  ),
  sql`DELETE FROM kb_source WHERE tenant_id = ${tenant_id} AND id = ${id}`,
  dropOlder({ tenant_id, id }, of),
]
