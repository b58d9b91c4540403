import type { Principal } from '../../core/principal.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import { createMadeStore } from './made-store.ts'
import type { KeyUpdateRequest, StoredKey } from './model.ts'

interface KeyRow {
  id: string
  tenant_id: string
  rate_limit: number
  daily_tokens: number
  tenant_tokens: number
  app_id: string | null
  device_id: string | null
}

export interface FoundKey {
  readonly principal: Principal
  /** Requests a minute; 0 is unlimited. */
  readonly rateLimit: number
  /** Tokens a day; 0 is no budget. */
  readonly dailyTokens: number
  /** Tokens a day of its tenant; 0 is no limit. */
  readonly tenantTokens: number
}

/** 0 is no limit. */
export interface KeyLimits {
  /** Requests a minute. */
  readonly rateLimit: number
  /** Tokens a day. */
  readonly dailyTokens: number
}

export interface NewKey {
  readonly id: string
  readonly tenantId: string
  readonly hash: string
  readonly prefix: string
  readonly tail: string
  readonly name: string
  readonly rateLimit: number
  readonly dailyTokens: number
  readonly appId: string | null
  readonly deviceId: string | null
  /** The key that makes it, or whose code does; null: a person. */
  readonly madeBy: string | null
  /** The person who makes it. */
  readonly personId: string | null
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

/** Revokes all keys that a person has made in the tenant. */
export const revokeKeysOfPerson = (tenantId: string, userId: string, at: number): Statement => sql`
  UPDATE api_key SET revoked_at = ${at}
  WHERE tenant_id = ${tenantId} AND person_id = ${userId} AND revoked_at IS NULL`

/** Revokes an app's own keys; keys of devices that are bound to the app stay valid. */
export const revokeKeysOfApp = (tenantId: string, appId: string, at: number): Statement => sql`
  UPDATE api_key SET revoked_at = ${at}
  WHERE tenant_id = ${tenantId} AND app_id = ${appId} AND device_id IS NULL
    AND revoked_at IS NULL`

/**
 * Locks the app's row, so that a simultaneous deletion of the app waits and revokes the new key.
 */
const holdApp = ({ tenantId }: NewKey, appId: string): Statement =>
  sql`UPDATE app SET name = name WHERE tenant_id = ${tenantId} AND id = ${appId}`

const insertKeyOfApp = (key: NewKey, appId: string, most: number): Statement => locked(
  'api_key',
  key.tenantId,
)`
  INSERT INTO api_key (id, tenant_id, hash, prefix, tail, name, rate_limit, daily_tokens, app_id,
    made_by, person_id, created_at)
  SELECT ${key.id}, tenant_id, ${key.hash}, ${key.prefix}, ${key.tail}, ${key.name},
    ${key.rateLimit}, ${key.dailyTokens}, id, ${key.madeBy}, ${key.personId},
    ${key.createdAt}
  FROM app WHERE tenant_id = ${key.tenantId} AND id = ${appId}
    AND (SELECT count(*) FROM api_key WHERE tenant_id = ${key.tenantId}) < ${most}
    AND (CAST(${key.madeBy} AS TEXT) IS NULL
      OR EXISTS (SELECT 1 FROM api_key WHERE id = ${key.madeBy} AND revoked_at IS NULL))`

const insertKey = (key: NewKey, most: number): Statement => locked('api_key', key.tenantId)`
  INSERT INTO api_key (id, tenant_id, hash, prefix, tail, name, rate_limit, daily_tokens, app_id,
    device_id, person_id, created_at)
  SELECT ${key.id}, ${key.tenantId}, ${key.hash}, ${key.prefix}, ${key.tail}, ${key.name},
    ${key.rateLimit}, ${key.dailyTokens}, ${key.appId}, ${key.deviceId}, ${key.personId},
    ${key.createdAt}
  WHERE (SELECT count(*) FROM api_key WHERE tenant_id = ${key.tenantId}) < ${most}`

const LISTED = sql`
  SELECT id, prefix, tail, name, created_at, revoked_at, rate_limit, daily_tokens, app_id,
    device_id
  FROM api_key`

async function countKeys(db: Db, tenantId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM api_key WHERE tenant_id = ${tenantId}`,
  )
  return row?.count ?? 0
}

/** The rows of API keys, which hold a hash instead of the key. */
export function createKeyStore(db: Db) {
  return {
    /** The valid key with this hash, or null. */
    async findByHash(hash: string): Promise<FoundKey | null> {
      const row = await db.get<KeyRow>(sql`
        SELECT k.id, k.tenant_id, k.rate_limit, k.daily_tokens, k.app_id, k.device_id,
          t.daily_tokens AS tenant_tokens
        FROM api_key k JOIN tenant t ON t.id = k.tenant_id
        WHERE k.hash = ${hash} AND k.revoked_at IS NULL AND t.disabled = 0`)
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
      const { rate_limit: rateLimit, daily_tokens: dailyTokens, tenant_tokens: tenantTokens } = row
      return { principal, rateLimit, dailyTokens, tenantTokens }
    },

    /** The limits of a key that is not revoked; null for any other. */
    limitsOf: (tenantId: string, id: string) =>
      db.get<KeyLimits>(sql`
        SELECT rate_limit AS "rateLimit", daily_tokens AS "dailyTokens" FROM api_key
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`),

    /** The daily budget of a key that is not revoked; null for any other. */
    async budgetOf(tenantId: string, id: string): Promise<number | null> {
      const row = await db.get<{ daily_tokens: number }>(sql`
        SELECT daily_tokens FROM api_key
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`)
      return row?.daily_tokens ?? null
    },

    /** Stores nothing and returns false when the tenant has `most` keys. */
    insert: async (key: NewKey, most: number): Promise<boolean> =>
      (await db.run(insertKey(key, most))).changes === 1,

    /**
     * Like `insert`, in one transaction with a statement that changes one row as long as the key
     * may be made. Null when it changed none.
     */
    async insertHeld(key: NewKey, most: number, hold: Statement): Promise<boolean | null> {
      let added = false
      const isHeld = await storedAsExpected(
        db.batch([expectRows(1, hold), insertKey(key, most)]).then(([, inserted]) => {
          added = inserted?.changes === 1
        }),
      )
      return isHeld ? added : null
    },

    made: createMadeStore(db),

    count: (tenantId: string) => countKeys(db, tenantId),

    has: async (tenantId: string, id: string): Promise<boolean> =>
      (await db.get(
        sql`SELECT 1 AS one FROM api_key WHERE tenant_id = ${tenantId} AND id = ${id}`,
      )) !== null,

    /** Like `insert`; false also when the app does not exist, or its maker was revoked. */
    async insertForApp(key: NewKey, appId: string, most: number): Promise<boolean> {
      const [, added] = await db.batch([holdApp(key, appId), insertKeyOfApp(key, appId, most)])
      return added?.changes === 1
    },

    /** Newest first, including revoked keys. */
    list: (tenantId: string) =>
      db.all<StoredKey>(
        joined(LISTED, sql`WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),
      ),

    /** The app and the device of a key; null when the tenant has no such key. */
    boundTo: (tenantId: string, id: string) =>
      db.get<Pick<StoredKey, 'app_id' | 'device_id'>>(sql`
        SELECT app_id, device_id FROM api_key WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** Changes what is given. Null when the tenant has no such key, else what it is now. */
    async update(tenantId: string, id: string, to: KeyUpdateRequest): Promise<StoredKey | null> {
      await db.run(sql`
        UPDATE api_key SET name = coalesce(${to.name ?? null}, name),
          rate_limit = coalesce(${to.rate_limit ?? null}, rate_limit),
          daily_tokens = coalesce(${to.daily_tokens ?? null}, daily_tokens)
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return db.get<StoredKey>(joined(LISTED, sql`WHERE tenant_id = ${tenantId} AND id = ${id}`))
    },

    /**
     * Revokes a key and runs `more` in one step; false when the tenant has no such key. Keeps the
     * time of the first revocation.
     */
    revoke(
      tenantId: string,
      id: string,
      at: number,
      more: readonly Statement[] = [],
    ): Promise<boolean> {
      const revoke = sql`
        UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at})
        WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([expectRows(1, revoke), ...more]))
    },
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>
