import { type Db, expectRows, sql, storedAsExpected } from '../../storage/db.ts'
import type { KeptTool } from './listing.ts'
import type { McpErrorClass } from './model.ts'

/** The server whose tools are stored, as it was when it was asked. */
interface ListedServer {
  readonly id: string
  readonly tenantId: string
  readonly revision: string
}

/** How an attempt to list a server's tools ended. */
export interface Checked {
  readonly latencyMs: number
  readonly checkedAt: string
  /** When it is to be tried again, where nobody asks before; null: not by itself. */
  readonly retryAt: number | null
}

/** What becomes of listings. */
export function createListingWrites(db: Db) {
  return {
    /** Keeps a listing with what was approved before; false when the server changed meanwhile. */
    listed(
      { id, tenantId, revision }: ListedServer,
      tools: readonly KeptTool[],
      { latencyMs, checkedAt }: Checked,
      { protocol, freshUntil }: { protocol: string; freshUntil: number },
    ): Promise<boolean> {
      const names = JSON.stringify(tools.map(({ name }) => [name]))
      return storedAsExpected(
        db.batch([
          expectRows(
            1,
            sql`
              UPDATE mcp_server SET state = 'ready', error_class = NULL, protocol = ${protocol},
                latency_ms = ${latencyMs}, checked_at = ${checkedAt}, fresh_until = ${freshUntil},
                retry_at = NULL, failures = 0
              WHERE tenant_id = ${tenantId} AND id = ${id} AND revision = ${revision}`,
          ),
          sql`
            DELETE FROM mcp_tool
            WHERE server_id = ${id} AND name NOT IN (SELECT value ->> 0 FROM json_each(${names}))`,
          ...tools.map((tool, position) => upsertTool(id, tool, position)),
        ]),
      )
    },

    /** Notes a failed listing; what was listed before stays, and is not offered. */
    async failed(
      { id, tenantId, revision }: ListedServer,
      errorClass: McpErrorClass,
      { latencyMs, checkedAt, retryAt }: Checked,
    ): Promise<void> {
      await db.run(sql`
        UPDATE mcp_server SET state = 'failed', error_class = ${errorClass},
          latency_ms = ${latencyMs}, checked_at = ${checkedAt}, retry_at = ${retryAt},
          failures = failures + 1
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revision = ${revision}`)
    },

    /** Some of the servers that are to be tried again by now, of all tenants. */
    due: (now: number, count: number) =>
      db.all<{ tenantId: string; id: string }>(sql`
        SELECT tenant_id AS "tenantId", id FROM mcp_server
        WHERE retry_at <= ${now} AND enabled = 1 ORDER BY retry_at LIMIT ${count}`),
  }
}

const upsertTool = (
  serverId: string,
  { name, title, description, readOnly, destructive, schema, paramHeaders, reason, hash }: KeptTool,
  position: number,
) => sql`
  INSERT INTO mcp_tool (server_id, name, position, title, description, read_only, destructive,
    schema, schema_chars, param_headers, reason, hash)
  VALUES (${serverId}, ${name}, ${position}, ${title}, ${description}, ${Number(readOnly)},
    ${Number(destructive)}, ${schema}, ${schema.length}, ${JSON.stringify(paramHeaders)},
    ${reason}, ${hash})
  ON CONFLICT (server_id, name) DO UPDATE SET position = excluded.position,
    title = excluded.title, description = excluded.description, read_only = excluded.read_only,
    destructive = excluded.destructive, schema = excluded.schema,
    schema_chars = excluded.schema_chars, param_headers = excluded.param_headers,
    reason = excluded.reason, hash = excluded.hash`
