import { DEVICE_SILENT_MS } from '../../core/limits/contract.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'

/** A device whose webhooks are to be told. */
export interface PresentDevice {
  readonly id: string
  readonly tenantId: string
  readonly name: string
}

/** A change that has not been told. */
export interface Untold {
  /** Whether it is still to be told; of servers that find the same change it holds at one. */
  readonly condition: Statement
  /** Notes that it is told. */
  readonly noting: Statement
}

/** What was told of devices and keys, so that each change is told once by all servers. */
export function createToldStore(db: Db) {
  return {
    /** Devices that have come, or have gone silent, since that was told. */
    changed(isOnline: boolean, now: number): Promise<PresentDevice[]> {
      const since = new Date(now - DEVICE_SILENT_MS).toISOString()
      return isOnline
        ? db.all<PresentDevice>(sql`
            SELECT id, tenant_id AS "tenantId", name FROM device
            WHERE told_online = 0 AND last_seen_at > ${since}`)
        : db.all<PresentDevice>(sql`
            SELECT id, tenant_id AS "tenantId", name FROM device
            WHERE told_online = 1 AND last_seen_at <= ${since}`)
    },

    presence: (id: string, isOnline: boolean): Untold => ({
      condition: sql`EXISTS (SELECT 1 FROM device
        WHERE id = ${id} AND told_online = ${Number(!isOnline)})`,
      noting: sql`UPDATE device SET told_online = ${Number(isOnline)}
        WHERE id = ${id} AND told_online = ${Number(!isOnline)}`,
    }),

    /** The prefix of a key of which that day was not told; null for any other one. */
    async unspent(tenantId: string, keyId: string, day: number): Promise<string | null> {
      const row = await db.get<{ prefix: string }>(sql`
        SELECT prefix FROM api_key WHERE tenant_id = ${tenantId} AND id = ${keyId}
          AND (told_spent IS NULL OR told_spent < ${day})`)
      return row?.prefix ?? null
    },

    /** A key has used its tokens of a day. */
    spent: (tenantId: string, keyId: string, day: number): Untold => ({
      condition: sql`EXISTS (SELECT 1 FROM api_key WHERE tenant_id = ${tenantId}
        AND id = ${keyId} AND (told_spent IS NULL OR told_spent < ${day}))`,
      noting: sql`UPDATE api_key SET told_spent = ${day} WHERE tenant_id = ${tenantId}
        AND id = ${keyId} AND (told_spent IS NULL OR told_spent < ${day})`,
    }),

    store: (statements: readonly Statement[]) => db.batch(statements),
  }
}

export type ToldStore = ReturnType<typeof createToldStore>
