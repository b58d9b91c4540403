import { type Db, sql } from '../../storage/db.ts'

interface Row {
  base_url: string
  key_sealed: Uint8Array
  failover: number
  revision: string
  model: string | null
}

/** The row of a tenant without a channel. */
interface NoRow {
  base_url: null
}

export interface StoredProvider {
  readonly baseUrl: string
  readonly keySealed: Uint8Array
  readonly failover: boolean
  /** Changes with every save. */
  readonly revision: string
}

/** A tenant's own model channel: one row at most, its key encrypted. */
export function createProviderStore(db: Db) {
  return {
    /** The tenant's channel, and the model named in the tenant's settings. */
    async get(tenantId: string): Promise<(StoredProvider & { model: string | null }) | null> {
      const row = await db.get<Row | NoRow>(sql`
        SELECT p.base_url, p.key_sealed, p.failover, p.revision, s.model
        FROM tenant t
          LEFT JOIN provider p ON p.tenant_id = t.id
          LEFT JOIN tenant_settings s ON s.tenant_id = t.id
        WHERE t.id = ${tenantId}`)
      if (!row || row.base_url === null) return null
      return {
        baseUrl: row.base_url,
        keySealed: row.key_sealed,
        failover: row.failover === 1,
        revision: row.revision,
        model: row.model,
      }
    },

    async put(tenantId: string, provider: StoredProvider): Promise<void> {
      const { baseUrl, keySealed, failover, revision } = provider
      await db.run(sql`
        INSERT INTO provider (tenant_id, base_url, key_sealed, failover, revision)
        VALUES (${tenantId}, ${baseUrl}, ${keySealed}, ${failover ? 1 : 0}, ${revision})
        ON CONFLICT (tenant_id) DO UPDATE SET base_url = excluded.base_url,
          key_sealed = excluded.key_sealed, failover = excluded.failover,
          revision = excluded.revision`)
    },

    async remove(tenantId: string): Promise<void> {
      await db.run(sql`DELETE FROM provider WHERE tenant_id = ${tenantId}`)
    },
  }
}

export type ProviderStore = ReturnType<typeof createProviderStore>
