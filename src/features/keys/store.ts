import type { Principal } from '../../core/principal.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'
import type { ApiKeyMeta } from './model.ts'

interface KeyRow {
  id: string
  tenant_id: string
  rate_limit: number
  app_id: string | null
  device_id: string | null
}

export interface NewKey {
  readonly id: string
  readonly tenantId: string
  readonly hash: string
  readonly prefix: string
  readonly rateLimit: number
  readonly appId: string | null
  readonly deviceId: string | null
  readonly createdAt: number
}

/** Revokes all keys of a device. */
export const revokeKeysOfDevice = (
  tenantId: string,
  deviceId: string,
  at: number,
): Statement => sql`
  UPDATE api_key SET revoked_at = ${at}
  WHERE tenant_id = ${tenantId} AND device_id = ${deviceId} AND revoked_at IS NULL`

/** Revokes an app's own keys; keys of devices that are bound to the app stay valid. */
export const revokeKeysOfApp = (tenantId: string, appId: string, at: number): Statement => sql`
  UPDATE api_key SET revoked_at = ${at}
  WHERE tenant_id = ${tenantId} AND app_id = ${appId} AND device_id IS NULL
    AND revoked_at IS NULL`

const insertKeyOfApp = (key: NewKey, appId: string, most: number): Statement => sql`
  INSERT INTO api_key (id, tenant_id, hash, prefix, rate_limit, app_id, created_at)
  SELECT ${key.id}, tenant_id, ${key.hash}, ${key.prefix}, ${key.rateLimit}, id, ${key.createdAt}
  FROM app WHERE tenant_id = ${key.tenantId} AND id = ${appId}
    AND (SELECT count(*) FROM api_key WHERE tenant_id = ${key.tenantId}) < ${most}`

async function countKeys(db: Db, tenantId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM api_key WHERE tenant_id = ${tenantId}`,
  )
  return row?.count ?? 0
}

/** The rows of API keys, which hold a hash instead of the key. */
export function createKeyStore(db: Db) {
  return {
    /** The valid key with this hash, or null. No other statement finds a tenant by a secret. */
    async findByHash(hash: string): Promise<{ principal: Principal; rateLimit: number } | null> {
      const row = await db.get<KeyRow>(sql`
        SELECT id, tenant_id, rate_limit, app_id, device_id FROM api_key
        WHERE hash = ${hash} AND revoked_at IS NULL`)
      if (!row) return null
      const kind = row.device_id ? 'device' : row.app_id ? 'app' : 'general'
      const principal: Principal = {
        kind,
        tenantId: row.tenant_id,
        keyId: row.id,
        appId: row.app_id,
        deviceId: row.device_id,
        userId: null,
      }
      return { principal, rateLimit: row.rate_limit }
    },

    /** Whether the key is not revoked. */
    async isValid(tenantId: string, id: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 FROM api_key
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`)
      return row !== null
    },

    /** Stores nothing and returns false when the tenant has `most` keys. */
    async insert(key: NewKey, most: number): Promise<boolean> {
      const { changes } = await db.run(sql`
        INSERT INTO api_key (id, tenant_id, hash, prefix, rate_limit, app_id, device_id, created_at)
        SELECT ${key.id}, ${key.tenantId}, ${key.hash}, ${key.prefix}, ${key.rateLimit},
          ${key.appId}, ${key.deviceId}, ${key.createdAt}
        WHERE (SELECT count(*) FROM api_key WHERE tenant_id = ${key.tenantId}) < ${most}`)
      return changes === 1
    },

    count: (tenantId: string) => countKeys(db, tenantId),

    /** Like `insert`; false also when the app does not exist. */
    async insertForApp(key: NewKey, appId: string, most: number): Promise<boolean> {
      return (await db.run(insertKeyOfApp(key, appId, most))).changes === 1
    },

    /** Newest first, including revoked keys. */
    list: (tenantId: string) =>
      db.all<ApiKeyMeta>(sql`
        SELECT id, prefix, created_at, revoked_at, rate_limit, app_id, device_id FROM api_key
        WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),

    /** False when the tenant has no such key; keeps the time of the first revocation. */
    async revoke(tenantId: string, id: string, at: number): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at})
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>
