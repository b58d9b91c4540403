import { type Db, locked, type Statement, sql } from '../../storage/db.ts'
import type { StoredKey } from './model.ts'

export interface MadeDevice {
  readonly id: string
  readonly name: string
}

export interface MadeShare {
  readonly id: string
  readonly app_id: string
  readonly name: string
}

/** Ends what a key has made: keys, codes of devices, shares. */
export const revokeMade = (tenantId: string, keyId: string, at: number): Statement[] => [
  // What a revoked key may no longer make is decided under the same lock.
  locked('api_key', tenantId)`
  UPDATE api_key SET revoked_at = ${at}
  WHERE tenant_id = ${tenantId} AND made_by = ${keyId} AND revoked_at IS NULL`,
  sql`
  UPDATE device SET code_expires_at = NULL
  WHERE tenant_id = ${tenantId} AND made_by = ${keyId} AND key_id IS NULL`,
  sql`DELETE FROM share WHERE tenant_id = ${tenantId} AND made_by = ${keyId}`,
]

/** What a key has made and what is still good, as it would be ended by `revokeMade`. */
export const createMadeStore = (db: Db) => ({
  /** Keys of apps. */
  keys: (tenantId: string, keyId: string) =>
    db.all<StoredKey>(sql`
      SELECT id, prefix, tail, name, created_at, revoked_at, rate_limit, daily_tokens, app_id,
        device_id
      FROM api_key WHERE tenant_id = ${tenantId} AND made_by = ${keyId} AND revoked_at IS NULL
        AND device_id IS NULL
      ORDER BY created_at DESC, id DESC`),

  /** Devices with a valid key, or with a code that may still be redeemed at `now`. */
  devices: (tenantId: string, keyId: string, now: string) =>
    db.all<MadeDevice>(sql`
      SELECT d.id, d.name FROM device d LEFT JOIN api_key k
        ON k.tenant_id = d.tenant_id AND k.id = d.key_id AND k.revoked_at IS NULL
      WHERE d.tenant_id = ${tenantId} AND d.made_by = ${keyId}
        AND (k.id IS NOT NULL OR (d.key_id IS NULL AND d.code_expires_at > ${now}))
      ORDER BY d.created_at DESC, d.id DESC`),

  shares: (tenantId: string, keyId: string, now: string) =>
    db.all<MadeShare>(sql`
      SELECT id, app_id, name FROM share
      WHERE tenant_id = ${tenantId} AND made_by = ${keyId}
        AND (expires_at IS NULL OR expires_at > ${now})
      ORDER BY created_at DESC, id DESC`),
})
