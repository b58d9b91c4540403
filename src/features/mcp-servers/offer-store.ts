import { type Db, sql } from '../../storage/db.ts'
import type { ParamHeader } from './param-headers.ts'

/** A tool as a turn offers it. */
export interface OfferedTool {
  readonly serverId: string
  readonly name: string
  readonly title: string | null
  /** Of the version that is approved. */
  readonly hash: string
  /** Whether a person is asked before each call. */
  readonly ask: boolean
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly paramHeaders: readonly ParamHeader[]
}

/** What turns are offered, and how their calls ended. */
export function createOffers(db: Db) {
  return {
    /** A value that changes with everything that changes the tools of the tenant's servers. */
    async stamp(tenantId: string): Promise<string> {
      const row = await db.get<{ stamp: string | null }>(sql`
        SELECT string_agg(revision || name || enabled || state || coalesce(checked_at, ''), ','
          ORDER BY id) AS stamp
        FROM mcp_server WHERE tenant_id = ${tenantId}`)
      return row?.stamp ?? ''
    },

    /** The tools with these keys as a turn needs them; deleted ones are left out. */
    async offered(
      tenantId: string,
      keys: readonly { readonly serverId: string; readonly name: string }[],
    ): Promise<OfferedTool[]> {
      type Row = Omit<OfferedTool, 'schema' | 'paramHeaders' | 'ask'> & {
        ask: number
        schema: string
        paramHeaders: string
      }
      const wanted = JSON.stringify(keys.map(({ serverId, name }) => [serverId, name]))
      const rows = await db.all<Row>(sql`
        SELECT t.server_id AS "serverId", t.name, t.title, t.hash, t.ask, t.description, t.schema,
          t.param_headers AS "paramHeaders"
        FROM json_each(${wanted}) w
          CROSS JOIN mcp_server s
          CROSS JOIN mcp_tool t
        WHERE s.id = w.value ->> 0 AND s.tenant_id = ${tenantId}
          AND t.server_id = s.id AND t.name = w.value ->> 1
          AND t.approved_hash = t.hash AND t.reason IS NULL ORDER BY w.key`)
      return rows.map((row) => ({
        ...row,
        ask: row.ask === 1,
        schema: JSON.parse(row.schema) as OfferedTool['schema'],
        paramHeaders: JSON.parse(row.paramHeaders) as ParamHeader[],
      }))
    },

    /** Whether the tool may still be called as it was offered. */
    async isApproved(tenantId: string, { serverId, name, hash }: OfferedTool): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS found FROM mcp_server s JOIN mcp_tool t ON t.server_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = ${serverId} AND s.enabled = 1
          AND t.name = ${name} AND t.hash = ${hash} AND t.approved_hash = ${hash}`)
      return row !== null
    },

    /** Notes the last call of a tool: when it was, and whether it succeeded. */
    async called({ serverId, name }: OfferedTool, at: string, ok: boolean): Promise<void> {
      await db.run(sql`
        UPDATE mcp_tool SET called_at = ${at}, called_ok = ${Number(ok)}
        WHERE server_id = ${serverId} AND name = ${name}`)
    },
  }
}
