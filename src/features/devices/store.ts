import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
  withLock,
} from '../../storage/db.ts'
import type { NewKey } from '../keys/store.ts'
import type { StoredBoard } from './board.ts'
import type { Device, DeviceHeartbeatRequest, DeviceUpdateRequest } from './model.ts'

export interface NewDevice {
  readonly id: string
  readonly tenantId: string
  readonly name: string
  readonly appId: string | null
  readonly hwModel: string | null
  readonly codeHash: string
  readonly codeExpiresAt: string
  /** The key that issues its code; null: a person. */
  readonly madeBy: string | null
  readonly createdAt: string
}

/** The device that a code belongs to, and the state of the code. */
export interface CodeOwner {
  readonly id: string
  readonly tenant_id: string
  readonly key_id: string | null
  readonly code_expires_at: string | null
  readonly made_by: string | null
  /** The limits of that key; null for a person. */
  readonly maker_rate: number | null
  readonly maker_tokens: number | null
}

/** A device that has made a request, at `at`. */
export interface LastSeen {
  readonly tenantId: string
  readonly deviceId: string
  readonly at: string
}

const touch = ({ tenantId, deviceId, at }: LastSeen): Statement => locked('device seen')`
  UPDATE device SET last_seen_at = ${at} WHERE tenant_id = ${tenantId} AND id = ${deviceId}
    AND (last_seen_at IS NULL OR last_seen_at < ${at})`

const LISTED = sql`
  SELECT id, name, app_id, hw_model, firmware, activated_at, last_seen_at, code_expires_at,
    created_at
  FROM device`

/** The rows of a tenant's devices. */
export function createDeviceStore(db: Db) {
  return {
    list: (tenantId: string) =>
      db.all<Device>(
        joined(LISTED, sql`WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),
      ),

    find: (tenantId: string, id: string) =>
      db.get<Device>(joined(LISTED, sql`WHERE tenant_id = ${tenantId} AND id = ${id}`)),

    /** False, and nothing is stored, at `most` devices of the tenant or for a revoked maker. */
    async insert(device: NewDevice, most: number): Promise<boolean> {
      const { changes } = await db.run(
        withLock(
          ['api_key', device.tenantId],
          locked('device', device.tenantId)`
        INSERT INTO device (id, tenant_id, name, app_id, hw_model, code_hash, code_expires_at,
          made_by, created_at)
        SELECT ${device.id}, ${device.tenantId}, ${device.name}, ${device.appId},
          ${device.hwModel}, ${device.codeHash}, ${device.codeExpiresAt}, ${device.madeBy},
          ${device.createdAt}
        WHERE (SELECT count(*) FROM device WHERE tenant_id = ${device.tenantId}) < ${most}
          AND (CAST(${device.madeBy} AS TEXT) IS NULL
            OR EXISTS (SELECT 1 FROM api_key WHERE id = ${device.madeBy} AND revoked_at IS NULL))`,
        ),
      )
      return changes === 1
    },

    async update(tenantId: string, id: string, fields: DeviceUpdateRequest): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE device SET name = ${fields.name}, app_id = ${fields.app_id}
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    /** Deletes the device and runs `also` in one transaction. */
    remove(tenantId: string, id: string, also: readonly Statement[]): Promise<boolean> {
      const remove = sql`DELETE FROM device WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([expectRows(1, remove), ...also]))
    },

    /** Sets a new code and ends the old code and key in the same step. */
    recode(
      tenantId: string,
      id: string,
      code: {
        readonly hash: string
        readonly expiresAt: string
        readonly madeBy: string | null
      },
      revokeKeys: Statement,
    ): Promise<boolean> {
      const renew = locked('api_key', tenantId)`
        UPDATE device SET code_hash = ${code.hash}, code_expires_at = ${code.expiresAt},
          key_id = NULL, activated_at = NULL, mac = NULL, client_hash = NULL,
          made_by = ${code.madeBy}
        WHERE tenant_id = ${tenantId} AND id = ${id}
          AND (CAST(${code.madeBy} AS TEXT) IS NULL
            OR EXISTS (SELECT 1 FROM api_key WHERE id = ${code.madeBy} AND revoked_at IS NULL))`
      return storedAsExpected(db.batch([expectRows(1, renew), revokeKeys]))
    },
  }
}

export type DeviceStore = ReturnType<typeof createDeviceStore>

/** What devices themselves change. A code's hash identifies its tenant, as a key's hash does. */
export function createActivationStore(db: Db) {
  return {
    ownerOfCode: (hash: string) =>
      db.get<CodeOwner>(sql`
        SELECT d.id, d.tenant_id, d.key_id, d.code_expires_at, d.made_by,
          m.rate_limit AS maker_rate, m.daily_tokens AS maker_tokens
        FROM device d LEFT JOIN api_key m ON m.tenant_id = d.tenant_id AND m.id = d.made_by
        WHERE d.code_hash = ${hash}`),

    /**
     * Spends the code and stores the key in one step; of simultaneous calls exactly one gets true.
     * The same step reads the app, so that the key inherits the device's current one. False also
     * when the tenant has `keysMax` keys; the code is then not spent. `board` is stored when a
     * board has redeemed the code.
     */
    activate(
      codeHash: string,
      key: NewKey,
      keysMax: number,
      at: string,
      board: StoredBoard | null = null,
    ): Promise<boolean> {
      const spend = sql`
        UPDATE device SET key_id = ${key.id}, activated_at = ${at}, code_expires_at = NULL,
          mac = ${board?.mac ?? null}, client_hash = ${board?.clientHash ?? null}
        WHERE code_hash = ${codeHash} AND key_id IS NULL AND code_expires_at > ${at}`
      const insert = locked('api_key', key.tenantId)`
        INSERT INTO api_key
          (id, tenant_id, hash, prefix, tail, rate_limit, daily_tokens, app_id, device_id, made_by,
          created_at)
        SELECT ${key.id}, tenant_id, ${key.hash}, ${key.prefix}, ${key.tail}, ${key.rateLimit},
          ${key.dailyTokens}, app_id, id, made_by, ${key.createdAt}
        FROM device WHERE code_hash = ${codeHash} AND key_id = ${key.id}
          AND (SELECT count(*) FROM api_key WHERE tenant_id = ${key.tenantId}) < ${keysMax}`
      return storedAsExpected(db.batch([expectRows(1, spend), expectRows(1, insert)]))
    },

    /** The app that a device's key is bound to. */
    async appOfKey(tenantId: string, keyId: string): Promise<string | null> {
      const row = await db.get<{ app_id: string | null }>(sql`
        SELECT app_id FROM api_key WHERE tenant_id = ${tenantId} AND id = ${keyId}`)
      return row?.app_id ?? null
    },

    /** Stores a heartbeat; keeps the stored value of a field that the device leaves out. */
    async heartbeat(seen: LastSeen, told: DeviceHeartbeatRequest): Promise<boolean> {
      const { tenantId, deviceId, at } = seen
      const { changes } = await db.run(sql`
        UPDATE device SET last_seen_at = ${at}, firmware = coalesce(${told.firmware}, firmware),
          hw_model = coalesce(${told.hw_model}, hw_model)
        WHERE tenant_id = ${tenantId} AND id = ${deviceId}`)
      return changes === 1
    },

    async write(entries: readonly LastSeen[]): Promise<void> {
      const latest = new Map(entries.map((entry) => [entry.deviceId, entry]))
      await db.batch([...latest.values()].map(touch))
    },
  }
}

export type ActivationStore = ReturnType<typeof createActivationStore>
