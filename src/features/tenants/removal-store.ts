import { inPieces, type Sized } from '../../core/pieces.ts'
import { type Db, sql } from '../../storage/db.ts'

export interface GoneTenant {
  readonly id: string
  /** Epoch milliseconds. */
  readonly gone_at: number
}

/** Rows that one transaction removes at most, in a few ms; writes of others go between two. */
const REMOVED_AT_ONCE = 500

/** A table of which a tenant may have millions of rows. */
interface Large {
  readonly table: string
  /** The columns of its key, by which an index of the tenant's rows is in order. */
  readonly key: string
  /** The bytes of a row, where it may have millions. */
  readonly bytes?: string
}

const LARGE: readonly Large[] = [
  {
    table: 'talk_turn',
    key: 'id',
    bytes: `(SELECT coalesce(sum(octet_length(e.events)), 0) FROM talk_event e
      WHERE e.turn_id = talk_turn.id)`,
  },
  { table: 'open_ask', key: 'id' },
  { table: 'feedback', key: 'id' },
  {
    table: 'turn',
    key: 'tenant_id, session_id, seq',
    bytes: `octet_length(user_text) + octet_length(reply) + octet_length(coalesce(details, ''))`,
  },
  { table: 'session', key: 'tenant_id, id' },
  { table: 'picture', key: 'id', bytes: 'octet_length(bytes)' },
  { table: 'run', key: 'id' },
  { table: 'request_log', key: 'tenant_id, ts, id' },
  { table: 'audit', key: 'tenant_id, id' },
  { table: 'memory', key: 'id' },
]
/** The other tables of a tenant; what refers to their rows goes with them. */
const SMALL = [
  ...['api_key', 'key_use', 'share', 'app_version', 'app', 'persona', 'tenant_settings'],
  ...['device', 'provider', 'mcp_server', 'member'],
  ...['usage_day', 'usage_key_day', 'usage_source_day', 'usage_person_day'],
  ...['chat_file', 'session_file', 'prompt', 'session_picture', 'kb_collection'],
  ...['schedule', 'notice'],
  ...['webhook_delivery', 'webhook', 'run_trigger'],
]

/** The rows of tenants that have lost their last member. */
export function createRemovalStore(db: Db) {
  /** Deletes some rows; false when there were none. */
  async function removeSome(tenantId: string, { table, key }: Large, most: number) {
    const some = `SELECT ${key} FROM ${table} WHERE tenant_id = ?`
    const { changes } = await db.run({
      sql: `DELETE FROM ${table} WHERE (${key}) IN (${some} ORDER BY ${key} LIMIT ${most})`,
      args: [tenantId],
    })
    return changes > 0
  }

  /** The numbers of the first rows that one transaction may delete. */
  async function piecesOf(tenantId: string, { table, key, bytes }: Large): Promise<number[]> {
    if (bytes === undefined) return [REMOVED_AT_ONCE]
    const sizes = await db.all<Sized>({
      sql: `SELECT ${bytes} AS whole FROM ${table} WHERE tenant_id = ?
        ORDER BY ${key} LIMIT ${REMOVED_AT_ONCE}`,
      args: [tenantId],
    })
    return inPieces(sizes).map(({ length }) => length)
  }

  async function empty(tenantId: string, large: Large): Promise<void> {
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true
      for (const most of await piecesOf(tenantId, large)) {
        if (await removeSome(tenantId, large, most)) isEmpty = false
      }
    }
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
      for (const large of LARGE) await empty(tenantId, large)
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
