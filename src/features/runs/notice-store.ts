import { type Db, locked, type Statement, sql } from '../../storage/db.ts'

/** A result that a person or a device is told. */
export interface NewNotice {
  readonly id: string
  readonly tenantId: string
  readonly runId: string
  readonly sessionId: string
  readonly text: string
  readonly dueAt: number
  readonly now: number
  readonly userId: string | null
  readonly deviceId: string | null
}

export interface NoticeRow {
  readonly id: string
  readonly tenant_id: string
  readonly device_id: string | null
  readonly run_id: string
  readonly session_id: string
  readonly text: string
  readonly due_at: number
}

export const insertingNotice = (notice: NewNotice): Statement => sql`
  INSERT INTO notice (id, tenant_id, run_id, session_id, text, due_at, made_at, user_id, device_id)
  VALUES (${notice.id}, ${notice.tenantId}, ${notice.runId}, ${notice.sessionId}, ${notice.text},
    ${notice.dueAt}, ${notice.now}, ${notice.userId}, ${notice.deviceId})`

/** A text for a device that no run made. */
export interface Sentence {
  readonly id: string
  readonly tenantId: string
  readonly deviceId: string
  readonly text: string
}

/** What people and devices have not been told. */
export function createNoticeStore(db: Db) {
  return {
    ofPerson: (tenantId: string, userId: string, limit: number) =>
      db.all<NoticeRow>(sql`
        SELECT id, tenant_id, device_id, run_id, session_id, text, due_at FROM notice
        WHERE tenant_id = ${tenantId} AND user_id = ${userId} AND given_at IS NULL
        ORDER BY id DESC LIMIT ${limit}`),

    /** False, and nothing is stored, where `most` texts wait for the device. */
    async insertSentence(
      { id, tenantId, deviceId, text }: Sentence,
      now: number,
      most: number,
    ): Promise<boolean> {
      const { changes } = await db.run(locked('notice', deviceId)`
        INSERT INTO notice (id, tenant_id, run_id, session_id, text, due_at, made_at, device_id)
        SELECT ${id}, ${tenantId}, ${id}, '', ${text}, ${now}, ${now}, ${deviceId}
        WHERE (SELECT count(*) FROM notice WHERE tenant_id = ${tenantId}
          AND device_id = ${deviceId} AND given_at IS NULL) < ${most}`)
      return changes === 1
    },

    /** Oldest first, of one device or of any of several. */
    ofDevices: (tenantId: string, deviceIds: readonly string[], since: number, limit: number) =>
      db.all<NoticeRow>({
        sql: `SELECT id, tenant_id, device_id, run_id, session_id, text, due_at FROM notice
          WHERE tenant_id = ? AND device_id IN (${deviceIds.map(() => '?').join(', ')})
            AND given_at IS NULL AND made_at >= ? ORDER BY id LIMIT ?`,
        args: [tenantId, ...deviceIds, since, limit],
      }),

    /** False when it was given already: of several who ask, one gives it. */
    async take(tenantId: string, id: string, now: number): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE notice SET given_at = ${now}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND given_at IS NULL`)
      return changes === 1
    },

    /** It is given again: nobody heard it. */
    async giveBack(tenantId: string, id: string): Promise<void> {
      await db.run(sql`
        UPDATE notice SET given_at = NULL WHERE tenant_id = ${tenantId} AND id = ${id}`)
    },

    /** A notice of the person, read or not. */
    find: (tenantId: string, userId: string, id: string) =>
      db.get<{ id: string }>(sql`
        SELECT id FROM notice
        WHERE tenant_id = ${tenantId} AND user_id = ${userId} AND id = ${id}`),

    /** Deletes up to 1,000 that were made before a time; resolves with their number. */
    async prune(before: number): Promise<number> {
      // No lock: the time at which it was made stays.
      const { changes } = await db.run(sql`
        DELETE FROM notice WHERE id IN (SELECT id FROM notice
          WHERE made_at < ${before} ORDER BY made_at LIMIT 1000)`)
      return changes
    },

    /** As `prune`, of those for devices. */
    async pruneUnheard(before: number): Promise<number> {
      // No lock: the time at which it was made stays.
      const { changes } = await db.run(sql`
        DELETE FROM notice WHERE id IN (SELECT id FROM notice
          WHERE device_id IS NOT NULL AND made_at < ${before} ORDER BY made_at LIMIT 1000)`)
      return changes
    },
  }
}
export type NoticeStore = ReturnType<typeof createNoticeStore>
