import { type Db, expectRows, locked, sql, storedAsExpected, textRows } from '../../storage/db.ts'
import type { KeptTool } from './listing.ts'
import { createListingWrites } from './listing-store.ts'
import type { McpAuth, McpErrorClass } from './model.ts'
import { createOffers } from './offer-store.ts'

/** The configuration of a server. */
export interface SavedServer {
  readonly name: string
  readonly url: string
  readonly headerName: string | null
  readonly headerSealed: Uint8Array | null
  readonly auth: McpAuth
  readonly clientId: string | null
  readonly secretSealed: Uint8Array | null
  readonly scopes: string | null
  readonly enabled: boolean
}

export interface StoredServer extends SavedServer {
  readonly id: string
  readonly tenantId: string
  readonly revision: string
  readonly state: 'ready' | 'failed' | 'never' | 'sign_in'
  readonly errorClass: McpErrorClass | null
  readonly protocol: string | null
  readonly latencyMs: number | null
  readonly checkedAt: string | null
  /** Epoch milliseconds. */
  readonly freshUntil: number | null
  readonly failures: number
  readonly createdAt: string
  /** The address of the person who signed in, and when; null while nobody is signed in. */
  readonly signedInBy: string | null
  readonly signedInAt: string | null
  /** Their tokens, sealed. */
  readonly grantSealed: Uint8Array | null
}

/** A tool to be approved; a hash of null approves its current version. */
export interface ReadTool {
  readonly name: string
  readonly hash: string | null
}

/** Who approves tools, and which of them ask; without `ask` they stay as they are. */
export interface Approval {
  readonly revision: string
  readonly at: string
  readonly userId: string | null
  readonly keyId: string | null
  readonly ask: readonly string[] | undefined
}

/** A stored tool without its schema. */
export interface StoredTool
  extends Pick<KeptTool, 'name' | 'title' | 'description' | 'readOnly' | 'destructive' | 'reason'> {
  readonly serverId: string
  readonly schemaChars: number
  readonly hash: string
  /** Whether a person is asked before each call. */
  readonly ask: boolean
  readonly approvedHash: string | null
  /** The approved description; kept until a newer version is approved. */
  readonly approvedDescription: string | null
}

/** Schemas and headers are JSON. */
export interface Definition
  extends Pick<StoredTool, 'name' | 'description' | 'reason' | 'hash' | 'approvedDescription'> {
  readonly schema: string
  readonly paramHeaders: string
  /** The approved schema. */
  readonly approvedSchema: string | null
  readonly approvedAt: string | null
  readonly approvedBy: string | null
  readonly calledAt: string | null
  readonly calledOk: number | null
}

interface ServerRow extends Omit<StoredServer, 'enabled'> {
  readonly enabled: number
}

interface ToolRow extends Omit<StoredTool, 'readOnly' | 'destructive' | 'ask'> {
  readonly ask: number
  readonly readOnly: number
  readonly destructive: number
}

const serverOf = (row: ServerRow): StoredServer => ({ ...row, enabled: row.enabled === 1 })
const toolOf = (row: ToolRow): StoredTool => ({
  ...row,
  readOnly: row.readOnly === 1,
  destructive: row.destructive === 1,
  ask: row.ask === 1,
})

/** MCP servers by tenant, with the tools of their last listings. */
export function createMcpServerStore(db: Db) {
  return {
    async list(tenantId: string): Promise<StoredServer[]> {
      const rows = await db.all<ServerRow>(sql`
        SELECT id, tenant_id AS "tenantId", name, url, header_name AS "headerName",
          header_sealed AS "headerSealed", auth, client_id AS "clientId",
          client_secret_sealed AS "secretSealed", scopes, enabled, revision, state,
          error_class AS "errorClass", protocol, latency_ms AS "latencyMs",
          checked_at AS "checkedAt", fresh_until AS "freshUntil", failures,
          created_at AS "createdAt", g.signed_in_by AS "signedInBy", g.signed_in_at AS "signedInAt",
          g.sealed AS "grantSealed"
        FROM mcp_server LEFT JOIN mcp_grant g ON g.server_id = id
        WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`)
      return rows.map(serverOf)
    },

    /**
     * The tools of the tenant's servers in the order of their listings, or those of one server.
     * Descriptions are cut after `descriptionChars`.
     */
    async tools(
      tenantId: string,
      descriptionChars: number,
      serverId: string | null = null,
    ): Promise<StoredTool[]> {
      const rows = await db.all<ToolRow>(sql`
        SELECT t.server_id AS "serverId", t.name, t.title,
          substr(t.description, 1, CAST(${descriptionChars} AS INTEGER)) AS description,
          t.read_only AS "readOnly", t.destructive, t.schema_chars AS "schemaChars", t.reason,
          t.hash, t.ask, t.approved_hash AS "approvedHash",
          substr(t.approved_description, 1, CAST(${descriptionChars} AS INTEGER))
            AS "approvedDescription"
        FROM mcp_server s JOIN mcp_tool t ON t.server_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = coalesce(${serverId}, s.id)
        ORDER BY t.server_id, t.position`)
      return rows.map(toolOf)
    },

    /** A tool with its current and its approved schema; null when there is none. */
    definition: (tenantId: string, id: string, name: string) =>
      db.get<Definition>(sql`
        SELECT t.name, t.description, t.schema, t.param_headers AS "paramHeaders", t.reason, t.hash,
          t.approved_description AS "approvedDescription", t.approved_schema AS "approvedSchema",
          t.approved_at AS "approvedAt", t.approved_by AS "approvedBy", t.called_at AS "calledAt",
          t.called_ok AS "calledOk"
        FROM mcp_server s JOIN mcp_tool t ON t.server_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = ${id} AND t.name = ${name}`),
    ...createServerWrites(db),
    ...createListingWrites(db),
    ...createOffers(db),
  }
}

export type McpServerStore = ReturnType<typeof createMcpServerStore>

function createServerWrites(db: Db) {
  return {
    /** False when the tenant has `max` servers, or one of this name. */
    async insert(
      {
        id,
        tenantId,
        name,
        url,
        headerName,
        headerSealed,
        auth,
        clientId,
        secretSealed,
        scopes,
        enabled,
        revision,
        createdAt,
      }: SavedServer & Pick<StoredServer, 'id' | 'tenantId' | 'revision' | 'createdAt'>,
      retryAt: number | null,
      max: number,
    ): Promise<boolean> {
      const { changes } = await db.run(locked('mcp_server', tenantId)`
        INSERT INTO mcp_server (id, tenant_id, name, url, header_name, header_sealed, auth,
          client_id, client_secret_sealed, scopes, enabled, revision, retry_at, created_at)
        SELECT ${id}, ${tenantId}, ${name}, ${url}, ${headerName}, ${headerSealed}, ${auth},
          ${clientId}, ${secretSealed}, ${scopes}, ${Number(enabled)}, ${revision}, ${retryAt},
          ${createdAt}
        WHERE (SELECT count(*) FROM mcp_server WHERE tenant_id = ${tenantId}) < ${max}
          AND NOT EXISTS (
            SELECT 1 FROM mcp_server WHERE tenant_id = ${tenantId} AND name = ${name})`)
      return changes === 1
    },

    /**
     * Replaces the configuration. A new revision invalidates the listing; `forgets` forgets the
     * tokens for the server, too. False when there is no such server, when it was changed
     * meanwhile, or when another one has this name.
     */
    async replace(
      { id, tenantId, revision: before }: StoredServer,
      next: SavedServer,
      revision: string,
      retryAt: number,
      forgets: boolean,
    ): Promise<boolean> {
      const { name, url, headerName, headerSealed, enabled } = next
      const { auth, clientId, secretSealed, scopes } = next
      const update = expectRows(
        1,
        locked('mcp_server', tenantId)`
          UPDATE mcp_server SET name = ${name}, url = ${url}, header_name = ${headerName},
            header_sealed = ${headerSealed}, auth = ${auth}, client_id = ${clientId},
            client_secret_sealed = ${secretSealed}, scopes = ${scopes},
            enabled = ${Number(enabled)}, revision = ${revision}
          WHERE tenant_id = ${tenantId} AND id = ${id} AND revision = ${before} AND NOT EXISTS (
            SELECT 1 FROM mcp_server
            WHERE tenant_id = ${tenantId} AND name = ${name} AND id <> ${id})`,
      )
      if (revision === before) return storedAsExpected(db.batch([update]))
      return storedAsExpected(
        db.batch([
          update,
          sql`
            UPDATE mcp_server SET state = 'never', error_class = NULL, protocol = NULL,
              latency_ms = NULL, checked_at = NULL, fresh_until = NULL, failures = 0,
              retry_at = ${retryAt}
            WHERE id = ${id}`,
          sql`DELETE FROM mcp_tool WHERE server_id = ${id}`,
          ...(forgets ? [sql`DELETE FROM mcp_grant WHERE server_id = ${id}`] : []),
        ]),
      )
    },

    async remove(tenantId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(
        sql`DELETE FROM mcp_server WHERE tenant_id = ${tenantId} AND id = ${id}`,
      )
      return changes === 1
    },

    /**
     * Approves exactly these tools. A tool that has changed since it was read keeps its earlier
     * approval, of its earlier version. A listing under way is dropped, because nobody has seen its
     * result. False when there is no such server.
     */
    approve(
      tenantId: string,
      id: string,
      read: readonly ReadTool[],
      { revision, at, userId, keyId, ask }: Approval,
    ): Promise<boolean> {
      const asks = ask && textRows(ask)
      const wanted = JSON.stringify(read.map(({ name, hash }) => [name, hash]))
      return storedAsExpected(
        db.batch([
          expectRows(
            1,
            sql`
              UPDATE mcp_server SET revision = ${revision}
              WHERE tenant_id = ${tenantId} AND id = ${id}`,
          ),
          // No lock: the statement before it holds the row of the server.
          sql`
            UPDATE mcp_tool SET approved_hash = w.approved,
              approved_at = CASE WHEN w.approved IS NULL THEN NULL
                WHEN w.approved IS NOT DISTINCT FROM approved_hash THEN approved_at
                ELSE ${at} END,
              approved_by = CASE WHEN w.approved IS NULL THEN NULL
                WHEN w.approved IS NOT DISTINCT FROM approved_hash THEN approved_by
                ELSE coalesce((SELECT email FROM "user" WHERE id = ${userId}), ${keyId}) END,
              approved_description = CASE WHEN w.approved IS NOT DISTINCT FROM hash THEN description
                WHEN approved_hash IS DISTINCT FROM hash THEN approved_description END,
              approved_schema = CASE WHEN w.approved IS NOT DISTINCT FROM hash THEN schema
                WHEN approved_hash IS DISTINCT FROM hash THEN approved_schema END
            FROM (
              SELECT t.name, CASE WHEN r.key IS NULL OR t.reason IS NOT NULL THEN NULL
                  WHEN coalesce(r.value ->> 1, t.hash) = t.hash THEN t.hash
                  ELSE t.approved_hash END AS approved
              FROM mcp_tool t LEFT JOIN json_each(${wanted}) r ON r.value ->> 0 = t.name
              WHERE t.server_id = ${id}) w
            WHERE server_id = ${id} AND mcp_tool.name = w.name`,
          ...(asks === undefined
            ? []
            : [
                // No lock: as above.
                sql`
                  UPDATE mcp_tool SET ask = CASE WHEN name IN (
                    SELECT value ->> 0 FROM json_each(${asks})) THEN 1 ELSE 0 END
                  WHERE server_id = ${id}`,
              ]),
        ]),
      )
    },
  }
}
