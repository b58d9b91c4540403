import { type Db, sql } from '../../storage/db.ts'

export interface AuditRow {
  readonly id: string
  /** Epoch milliseconds. */
  readonly ts: number
  readonly person: string | null
  readonly key_id: string | null
  readonly action: string
  readonly target: string | null
  readonly address: string
}

export interface NewAuditRow extends Omit<AuditRow, 'person'> {
  /** Empty: a change to the server itself. */
  readonly tenantId: string
  readonly userId: string | null
}

/** The lines of the audit by tenant. Ids sort by time. */
export function createAuditStore(db: Db) {
  return {
    /** Stores the address of the person, because the person may be deleted later. */
    async insert(row: NewAuditRow): Promise<void> {
      // No lock: it copies an address and decides nothing by it.
      await db.run(sql`
        INSERT INTO audit (tenant_id, id, ts, person, key_id, action, target, address)
        VALUES (${row.tenantId}, ${row.id}, ${row.ts},
          (SELECT email FROM "user" WHERE id = ${row.userId}),
          ${row.key_id}, ${row.action}, ${row.target}, ${row.address})`)
    },

    /** Newest first; `also` is a second tenant whose lines are included, or the same. */
    list: (tenantId: string, also: string, before: string, limit: number) =>
      db.all<AuditRow>(sql`
        SELECT id, ts, person, key_id, action, target, address FROM audit
        WHERE tenant_id IN (${tenantId}, ${also}) AND id < ${before}
        ORDER BY id DESC LIMIT ${limit}`),

    /** Deletes up to 5,000 lines of all tenants older than `before`; resolves with their number. */
    async prune(before: number): Promise<number> {
      // No lock: rows only grow older.
      const { changes } = await db.run(sql`
        DELETE FROM audit WHERE (tenant_id, id) IN (
          SELECT tenant_id, id FROM audit WHERE ts < ${before} LIMIT 5000)`)
      return changes
    },
  }
}

export type AuditStore = ReturnType<typeof createAuditStore>
