import { type Db, type Statement, sql } from '../../storage/db.ts'

export interface GoneTenant {
  readonly id: string
  /** Epoch milliseconds. */
  readonly gone_at: number
}

/** Rows that one transaction removes, in a few ms; writes of others go between two. */
const REMOVED_AT_ONCE = 500

/** Tables of which a tenant may have millions of rows, each with the columns of its key. */
const LARGE = [
  ['talk_turn', 'id'],
  ['open_ask', 'id'],
  ['feedback', 'id'],
  ['turn', 'tenant_id, session_id, seq'],
  ['session', 'tenant_id, id'],
  ['run', 'id'],
  ['request_log', 'tenant_id, ts, id'],
  ['audit', 'tenant_id, id'],
  ['memory', 'id'],
] as const
/** The other tables of a tenant; what refers to their rows goes with them. */
const SMALL = [
  ...['api_key', 'key_use', 'share', 'app_version', 'app', 'persona', 'tenant_settings'],
  ...['device', 'provider', 'mcp_server', 'member'],
  ...['usage_day', 'usage_key_day', 'usage_source_day', 'usage_person_day'],
  ...['chat_file', 'session_file', 'prompt', 'session_picture', 'picture', 'kb_collection'],
  ...['schedule', 'notice'],
  ...['webhook_delivery', 'webhook', 'run_trigger'],
]

/** The rows of tenants that have lost their last member. */
export function createRemovalStore(db: Db) {
  async function empty(table: string, key: string, tenantId: string): Promise<void> {
    const some = `SELECT ${key} FROM ${table} WHERE tenant_id = ? LIMIT ${REMOVED_AT_ONCE}`
    const statement: Statement = {
      sql: `DELETE FROM ${table} WHERE (${key}) IN (${some})`,
      args: [tenantId],
    }
    while ((await db.run(statement)).changes > 0);
  }

  return {
    gone: () => db.all<GoneTenant>(sql`SELECT id, gone_at FROM tenant WHERE gone_at IS NOT NULL`),

    async sources(tenantId: string): Promise<string[]> {
      const rows = await db.all<{ id: string }>(sql`
        SELECT id FROM kb_source WHERE tenant_id = ${tenantId}`)
      return rows.map(({ id }) => id)
    },

    /** Hides all documents; the sweep of old ones removes them from the indexes, too. */
    async retireDocuments(tenantId: string): Promise<void> {
      await db.run(sql`
        UPDATE kb_doc SET stage = 'old' WHERE tenant_id = ${tenantId} AND stage <> 'old'`)
    },

    /** Removes all rows but those of documents and sources. */
    async removeRows(tenantId: string): Promise<void> {
      for (const [table, key] of LARGE) await empty(table, key, tenantId)
      await db.batch(
        SMALL.map((table) => ({
          sql: `DELETE FROM ${table} WHERE tenant_id = ?`,
          args: [tenantId],
        })),
      )
    },

    /**
     * Removes the tenant itself. It stays while documents or files of it are left, and while it is
     * the last tenant of a person who is in no other one: the row of a person names a tenant.
     */
    async removeTenant(tenantId: string): Promise<void> {
      await db.batch([
        // No lock: nobody is in the tenant, so nobody else writes these rows.
        sql`UPDATE "user" SET tenant_id = (SELECT m.tenant_id FROM member m
            WHERE m.user_id = "user".id ORDER BY m.joined_at, m.id LIMIT 1)
          WHERE tenant_id = ${tenantId}
            AND EXISTS (SELECT 1 FROM member m WHERE m.user_id = "user".id)`,
        // No lock: as above.
        sql`DELETE FROM tenant WHERE id = ${tenantId}
          AND NOT EXISTS (SELECT 1 FROM kb_doc WHERE tenant_id = ${tenantId})
          AND NOT EXISTS (SELECT 1 FROM kb_source WHERE tenant_id = ${tenantId})
          AND NOT EXISTS (SELECT 1 FROM "user" WHERE tenant_id = ${tenantId})`,
      ])
    },
  }
}

export type RemovalStore = ReturnType<typeof createRemovalStore>
