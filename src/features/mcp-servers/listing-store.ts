import {
  type Db,
  expectRows,
  type Statement,
  sql,
  storedAsExpected,
  textRows,
} from '../../storage/db.ts'
import type { KeptTool } from './listing.ts'
import type { McpErrorClass } from './model.ts'

/** The server whose tools are stored, in the revision that was asked. */
interface ListedServer {
  readonly id: string
  readonly tenantId: string
  readonly revision: string
}

/** The result of an attempt to list a server's tools. */
export interface Checked {
  readonly latencyMs: number
  readonly checkedAt: string
  /** When the next attempt is due; null when none is scheduled. */
  readonly retryAt: number | null
}

/** Stores the results of listings. */
export function createListingWrites(db: Db) {
  return {
    /**
     * Stores a listing after the statements of `before`, and keeps earlier approvals. False when
     * the server changed meanwhile.
     */
    listed(
      { id, tenantId, revision }: ListedServer,
      tools: readonly KeptTool[],
      { latencyMs, checkedAt }: Checked,
      { protocol, freshUntil }: { protocol: string; freshUntil: number },
      before: readonly Statement[],
    ): Promise<boolean> {
      const names = textRows(tools.map(({ name }) => name))
      return storedAsExpected(
        db.batch([
          ...before,
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

    /**
     * Stores a failure after the statements of `before`; the tools of the last listing stay but are
     * not offered. False when the server changed meanwhile.
     */
    failed(
      { id, tenantId, revision }: ListedServer,
      errorClass: McpErrorClass,
      { latencyMs, checkedAt, retryAt }: Checked,
      before: readonly Statement[],
    ): Promise<boolean> {
      const [state, stored] = errorClass === 'sign_in' ? ['sign_in', null] : ['failed', errorClass]
      const update = sql`
        UPDATE mcp_server SET state = ${state}, error_class = ${stored},
          latency_ms = ${latencyMs}, checked_at = ${checkedAt}, retry_at = ${retryAt},
          failures = failures + 1
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revision = ${revision}`
      return storedAsExpected(db.batch([...before, expectRows(1, update)]))
    },

    /** Up to `count` servers of all tenants whose next attempt is due. */
    due: (now: number, count: number) =>
      db.all<{ tenantId: string; id: string }>(sql`
        SELECT tenant_id AS "tenantId", id FROM mcp_server
        WHERE retry_at <= ${now} AND enabled = 1 ORDER BY retry_at LIMIT ${count}`),
  }
}

/**
 * Stores a tool and keeps its approval, of its earlier version. An approval from before titles were
 * part of the hash goes on for the title that was stored then.
 */
const upsertTool = (serverId: string, tool: KeptTool, position: number) => {
  const { name, title, description, readOnly, destructive, schema, paramHeaders } = tool
  const { reason, hash, untitledHash } = tool
  return sql`
  INSERT INTO mcp_tool (server_id, name, position, title, description, read_only, destructive,
    schema, schema_chars, param_headers, reason, hash)
  VALUES (${serverId}, ${name}, ${position}, ${title}, ${description}, ${Number(readOnly)},
    ${Number(destructive)}, ${schema}, ${schema.length}, ${JSON.stringify(paramHeaders)},
    ${reason}, ${hash})
  ON CONFLICT (server_id, name) DO UPDATE SET position = excluded.position,
    title = excluded.title, description = excluded.description, read_only = excluded.read_only,
    destructive = excluded.destructive, schema = excluded.schema,
    schema_chars = excluded.schema_chars, param_headers = excluded.param_headers,
    reason = excluded.reason, hash = excluded.hash,
    approved_hash = CASE WHEN mcp_tool.title = excluded.title AND mcp_tool.hash = ${untitledHash}
      AND mcp_tool.approved_hash = ${untitledHash} THEN excluded.hash
      ELSE mcp_tool.approved_hash END`
}

/** Of a server that is in the revision that was asked, and not known to have failed. */
export const isNotFailed = ({ tenantId, id, revision }: ListedServer): Statement => sql`
  EXISTS (SELECT 1 FROM mcp_server WHERE tenant_id = ${tenantId} AND id = ${id}
    AND revision = ${revision} AND state <> 'failed')`

/** Whether these are not the tools that are stored. */
export function isOther({ id }: ListedServer, tools: readonly KeptTool[]): Statement {
  const listed = JSON.stringify(tools.map(({ name, hash }) => [name, hash]))
  return sql`
    ((SELECT count(*) FROM mcp_tool WHERE server_id = ${id}) <> ${tools.length}
      OR EXISTS (SELECT 1 FROM json_each(${listed}) l WHERE NOT EXISTS (
        SELECT 1 FROM mcp_tool t WHERE t.server_id = ${id} AND t.name = l.value ->> 0
          AND t.hash = l.value ->> 1)))`
}
