import { type Db, expectRows, locked, type Statement, sql, textRows } from '../../storage/db.ts'
import type { ChatFile } from './model.ts'

/** Whose files somebody sees: all of the tenant's where both are null. */
export interface Sight {
  readonly tenantId: string
  /** Those of this app alone. */
  readonly appId: string | null
  /** Those of this person alone. */
  readonly userId: string | null
}

export interface NewChatFile {
  readonly id: string
  readonly tenantId: string
  readonly appId: string | null
  readonly userId: string | null
  readonly name: string
  readonly hash: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

export type FileRow = Pick<
  ChatFile,
  | 'id'
  | 'name'
  | 'media_type'
  | 'bytes'
  | 'error_class'
  | 'error'
  | 'pages'
  | 'pages_done'
  | 'ocr_pages'
  | 'char_count'
  | 'created_at'
> & {
  readonly pages_unread: number
  /** Epoch milliseconds; null: it cannot be read again. */
  readonly spooled_until: number | null
  readonly state: 'queued' | 'reading' | 'embedding' | 'ready' | 'failed'
  /** Epoch milliseconds. */
  readonly expires_at: number
}

const COLUMNS = `f.id, f.name, s.media_type, s.bytes, s.state, s.error_class, s.error, s.pages,
  s.pages_done, s.ocr_pages, s.pages_unread, s.spooled_until, s.created_at, f.expires_at,
  (SELECT coalesce(sum(d.char_count), 0) FROM kb_doc d
    WHERE d.source_id = f.id AND d.stage = 'file') AS char_count`

/** The files that somebody sees now, oldest or newest first as the caller orders them. */
const seen = ({ tenantId, appId, userId }: Sight, now: number): Statement => ({
  sql: `FROM chat_file f JOIN kb_source s ON s.id = f.id
    WHERE f.tenant_id = ? AND f.expires_at > ?
      AND (CAST(? AS TEXT) IS NULL OR f.app_id = ?)
      AND (CAST(? AS TEXT) IS NULL OR f.user_id = ?)
      AND (f.app_id IS NULL OR EXISTS (SELECT 1 FROM app a
        WHERE a.tenant_id = f.tenant_id AND a.id = f.app_id))`,
  args: [tenantId, now, appId, appId, userId, userId],
})

export interface FileKey {
  readonly tenant_id: string
  readonly id: string
}

/** Files that people talk about; their text is in documents (features/knowledge/files). */
export function createFileStore(db: Db) {
  const rows = (sight: Sight, now: number, rest: Statement) => {
    const from = seen(sight, now)
    return db.all<FileRow>({
      sql: `SELECT ${COLUMNS} ${from.sql} ${rest.sql}`,
      args: [...from.args, ...rest.args],
    })
  }

  return {
    /** Stored with its source; fails when the tenant has `max` living files. */
    insert: (file: NewChatFile, now: number, max: number): Statement =>
      expectRows(
        1,
        locked('chat_file', file.tenantId)`
          INSERT INTO chat_file (id, tenant_id, app_id, user_id, name, hash, expires_at)
          SELECT ${file.id}, ${file.tenantId}, ${file.appId}, ${file.userId}, ${file.name},
            ${file.hash}, ${file.expiresAt}
          WHERE (SELECT count(*) FROM chat_file
            WHERE tenant_id = ${file.tenantId} AND expires_at > ${now})
            + (SELECT count(*) FROM picture WHERE tenant_id = ${file.tenantId}) < ${max}`,
      ),

    /** Living files of a tenant, and pictures of its talks. */
    async count(tenantId: string, now: number): Promise<number> {
      const row = await db.get<{ files: number }>(sql`
        SELECT count(*) + (SELECT count(*) FROM picture WHERE tenant_id = ${tenantId}) AS files
        FROM chat_file WHERE tenant_id = ${tenantId} AND expires_at > ${now}`)
      return row?.files ?? 0
    },

    /** Living files of all tenants. */
    async countAll(now: number): Promise<number> {
      const row = await db.get<{ files: number }>(sql`
        SELECT count(*) AS files FROM chat_file WHERE expires_at > ${now}`)
      return row?.files ?? 0
    },

    /** Newest first; those before `before`, an id of the page before. */
    list: (sight: Sight, now: number, before: string | null, limit: number) =>
      rows(
        sight,
        now,
        sql`AND (CAST(${before} AS TEXT) IS NULL OR f.id < ${before})
        ORDER BY f.id DESC LIMIT ${limit}`,
      ),

    /** Those of the ids that are seen, unordered. */
    find: (sight: Sight, now: number, ids: readonly string[]) =>
      rows(sight, now, sql`AND f.id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`),

    /** Those that turns of the session have named. */
    ofSession: (sight: Sight, now: number, sessionId: string) =>
      rows(
        sight,
        now,
        sql`AND f.id IN (SELECT file_id FROM session_file
          WHERE tenant_id = ${sight.tenantId} AND session_id = ${sessionId})
        ORDER BY f.id`,
      ),

    /** A file of the same owner with the same name and bytes that has not failed. */
    same: ({ tenantId, appId, userId, name, hash }: NewChatFile, now: number) =>
      db.get<{ id: string }>(sql`
        SELECT f.id FROM chat_file f JOIN kb_source s ON s.id = f.id
        WHERE f.tenant_id = ${tenantId} AND f.hash = ${hash} AND f.name = ${name}
          AND f.app_id IS NOT DISTINCT FROM ${appId} AND f.user_id IS NOT DISTINCT FROM ${userId}
          AND f.expires_at > ${now} AND s.state <> 'failed' LIMIT 1`),

    /** Notes a use of the files. */
    async use(tenantId: string, ids: readonly string[], expiresAt: number): Promise<void> {
      await db.run(sql`
        UPDATE chat_file SET expires_at = ${expiresAt}
        WHERE tenant_id = ${tenantId}
          AND id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`)
    },

    /** Makes the files those of a session, in the transaction that stores its turn. */
    link: (tenantId: string, sessionId: string, ids: readonly string[]): Statement[] =>
      ids.map(
        (id) => sql`
        INSERT INTO session_file (tenant_id, session_id, file_id)
        VALUES (${tenantId}, ${sessionId}, ${id}) ON CONFLICT DO NOTHING`,
      ),

    /** Files whose time is over. */
    ended: (now: number, limit: number) =>
      db.all<FileKey>(sql`
        SELECT tenant_id, id FROM chat_file WHERE expires_at <= ${now} LIMIT ${limit}`),

    /** Files whose app was deleted. */
    ofGoneApps: (limit: number) =>
      db.all<FileKey>(sql`
        SELECT f.tenant_id, f.id FROM chat_file f
        WHERE f.app_id IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM app a WHERE a.tenant_id = f.tenant_id AND a.id = f.app_id)
        LIMIT ${limit}`),

    /** Removes what sessions say of files that are gone. */
    async forgetEnded(): Promise<void> {
      // No lock: a file that is gone does not come back.
      await db.run(sql`
        DELETE FROM session_file WHERE NOT EXISTS (
          SELECT 1 FROM chat_file f WHERE f.id = session_file.file_id)`)
    },
  }
}

export type FileStore = ReturnType<typeof createFileStore>
