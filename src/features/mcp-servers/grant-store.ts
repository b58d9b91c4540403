import { type Db, expectRows, type Statement, sql, storedAsExpected } from '../../storage/db.ts'
import type { StoredServer } from './store.ts'

/** Tokens for a server, as they are stored. */
export interface StoredGrant {
  readonly sealed: Uint8Array
  /** Changes with each refresh. */
  readonly version: string
}

export interface NewGrant extends StoredGrant {
  readonly signedInBy: string | null
  readonly signedInAt: string
}

type GrantedServer = Pick<StoredServer, 'id' | 'tenantId' | 'url' | 'auth' | 'clientId'>

/** Tokens by server. The tokens of a server whose address or client changed are not stored. */
export function createGrantStore(db: Db) {
  /** Holds the row of the server, as it was when its tokens were asked for. */
  const unchanged = ({ id, tenantId, url, auth, clientId }: GrantedServer) =>
    expectRows(
      1,
      sql`
        UPDATE mcp_server SET auth = auth
        WHERE tenant_id = ${tenantId} AND id = ${id} AND url = ${url} AND auth = ${auth}
          AND client_id IS NOT DISTINCT FROM ${clientId}`,
    )

  const begin = (id: string, state: 'sign_in' | 'never', revision: string) => sql`
    UPDATE mcp_server SET state = ${state}, revision = ${revision}, error_class = NULL,
      retry_at = NULL, failures = 0
    WHERE id = ${id}`

  return {
    of: (id: string) =>
      db.get<StoredGrant>(sql`SELECT sealed, version FROM mcp_grant WHERE server_id = ${id}`),

    /** Stores tokens in place of all earlier ones; false when the server is another one now. */
    put: (server: GrantedServer, grant: NewGrant, revision: string): Promise<boolean> =>
      storedAsExpected(
        db.batch([
          unchanged(server),
          ...(server.auth === 'oauth' ? [begin(server.id, 'never', revision)] : []),
          sql`
            INSERT INTO mcp_grant (server_id, sealed, version, signed_in_by, signed_in_at)
            VALUES (${server.id}, ${grant.sealed}, ${grant.version}, ${grant.signedInBy},
              ${grant.signedInAt})
            ON CONFLICT (server_id) DO UPDATE SET sealed = excluded.sealed,
              version = excluded.version, signed_in_by = excluded.signed_in_by,
              signed_in_at = excluded.signed_in_at`,
        ]),
      ),

    /** Replaces tokens with what is known of them now; false when others were stored meanwhile. */
    refreshed(
      id: string,
      before: string,
      { sealed, version }: StoredGrant,
      told: readonly Statement[] = [],
    ): Promise<boolean> {
      const update = sql`
        UPDATE mcp_grant SET sealed = ${sealed}, version = ${version}
        WHERE server_id = ${id} AND version = ${before}`
      return storedAsExpected(db.batch([...told, expectRows(1, update)]))
    },

    /** Keeps what is left of tokens that are refused; false when others were stored meanwhile. */
    refused: (
      id: string,
      before: string,
      left: StoredGrant,
      revision: string,
      told: readonly Statement[],
    ): Promise<boolean> =>
      storedAsExpected(
        db.batch([
          ...told,
          expectRows(
            1,
            sql`
              UPDATE mcp_grant SET sealed = ${left.sealed}, version = ${left.version},
                signed_in_by = NULL
              WHERE server_id = ${id} AND version = ${before}`,
          ),
          begin(id, 'sign_in', revision),
        ]),
      ),

    /** Stores a client secret with its issuer; resolves with what is stored then. */
    async bindSecret(
      { id, tenantId, secretSealed }: StoredServer,
      sealed: Uint8Array,
    ): Promise<Uint8Array | null> {
      await db.run(sql`
        UPDATE mcp_server SET client_secret_sealed = ${sealed}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND client_secret_sealed = ${secretSealed}`)
      const row = await db.get<{ secretSealed: Uint8Array | null }>(sql`
        SELECT client_secret_sealed AS "secretSealed" FROM mcp_server
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row?.secretSealed ?? null
    },

    async forget(id: string, revision: string): Promise<void> {
      await db.batch([
        sql`DELETE FROM mcp_grant WHERE server_id = ${id}`,
        begin(id, 'sign_in', revision),
      ])
    },
  }
}

export type GrantStore = ReturnType<typeof createGrantStore>
