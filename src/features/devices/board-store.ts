import { type Db, expectRows, locked, sql, storedAsExpected, withLock } from '../../storage/db.ts'
import type { NewKey } from '../keys/store.ts'
import type { StoredBoard } from './board.ts'
import type { CodeOwner, NewDevice } from './store.ts'

/** A device that may belong to a board, and its key when that is still valid. */
export interface BoundDevice {
  readonly id: string
  readonly tenant_id: string
  readonly mac: string | null
  readonly client_hash: string | null
  readonly key_id: string | null
  readonly key_hash: string | null
  readonly hw_model: string | null
  readonly firmware: string | null
}

/** A device that a code may be spent for, and who issued the code. */
export type CodedDevice = BoundDevice & Pick<CodeOwner, 'made_by' | 'maker_rate' | 'maker_tokens'>

/** The devices of boards. A board is known by its code's hash, or by its MAC and client. */
export function createBoardStore(db: Db) {
  return {
    ofCode: (codeHash: string) =>
      db.get<CodedDevice>(sql`
        SELECT d.id, d.tenant_id, d.mac, d.client_hash, d.key_id, d.hw_model, d.firmware,
          k.hash AS key_hash, d.made_by, m.rate_limit AS maker_rate,
          m.daily_tokens AS maker_tokens
        FROM device d LEFT JOIN api_key k
          ON k.tenant_id = d.tenant_id AND k.id = d.key_id AND k.revoked_at IS NULL
        LEFT JOIN api_key m ON m.tenant_id = d.tenant_id AND m.id = d.made_by
        WHERE d.code_hash = ${codeHash}`),

    /**
     * The device of this board, of those whose key is valid: in the tenant that has paired it for
     * the longest time, so that a stranger who names the same board does not get its next start,
     * and there the one that was paired last.
     */
    ofBoard: ({ mac, clientHash }: StoredBoard) =>
      db.get<BoundDevice>(sql`
        SELECT d.id, d.tenant_id, d.mac, d.client_hash, d.key_id, d.hw_model, d.firmware,
          k.hash AS key_hash
        FROM device d JOIN api_key k
          ON k.tenant_id = d.tenant_id AND k.id = d.key_id AND k.revoked_at IS NULL
        WHERE d.mac = ${mac} AND d.client_hash = ${clientHash} AND d.tenant_id = (
          SELECT e.tenant_id FROM device e JOIN api_key l
            ON l.tenant_id = e.tenant_id AND l.id = e.key_id AND l.revoked_at IS NULL
          WHERE e.mac = ${mac} AND e.client_hash = ${clientHash}
          ORDER BY e.activated_at, e.id LIMIT 1)
        ORDER BY d.activated_at DESC LIMIT 1`),

    /**
     * Inserts a device and its key in one step; false when the tenant has no room for either.
     * `codeHash` is the hash of a code that was never shown, so no code activates the device.
     */
    async insert(
      device: Omit<NewDevice, 'codeExpiresAt'> & StoredBoard & { readonly firmware: string | null },
      key: NewKey,
      most: { readonly devices: number; readonly keys: number },
    ): Promise<boolean> {
      const { id, tenantId, mac, createdAt } = device
      const insertDevice = withLock(
        ['api_key', tenantId],
        locked('device', tenantId)`
        INSERT INTO device (id, tenant_id, name, app_id, hw_model, firmware, code_hash, key_id, mac,
          client_hash, activated_at, made_by, created_at)
        SELECT ${id}, ${tenantId}, ${device.name}, ${device.appId}, ${device.hwModel},
          ${device.firmware}, ${device.codeHash}, ${key.id}, ${mac}, ${device.clientHash},
          ${createdAt}, ${device.madeBy}, ${createdAt}
        WHERE (SELECT count(*) FROM device WHERE tenant_id = ${tenantId}) < ${most.devices}
          AND (SELECT count(*) FROM api_key WHERE tenant_id = ${tenantId}) < ${most.keys}
          AND (CAST(${device.madeBy} AS TEXT) IS NULL
            OR EXISTS (SELECT 1 FROM api_key WHERE id = ${device.madeBy} AND revoked_at IS NULL))`,
      )
      const insertKey = sql`
        INSERT INTO api_key
          (id, tenant_id, hash, prefix, tail, rate_limit, daily_tokens, app_id, device_id, made_by,
          created_at)
        VALUES (${key.id}, ${key.tenantId}, ${key.hash}, ${key.prefix}, ${key.tail},
          ${key.rateLimit}, ${key.dailyTokens}, ${device.appId}, ${device.id}, ${key.madeBy},
          ${key.createdAt})`
      return storedAsExpected(db.batch([expectRows(1, insertDevice), expectRows(1, insertKey)]))
    },

    /** When each device had its last turn by its own socket. */
    lastTurns: (tenantId: string) =>
      db.all<{ device_id: string; at: string }>(sql`
        SELECT d.id AS device_id, s.last_at AS at FROM device d JOIN session s
          ON s.tenant_id = d.tenant_id AND s.id = 'dev-' || d.id
        WHERE d.tenant_id = ${tenantId}`),

    /** Replaces the hash and tail of a valid key, after the secret it is derived from changed. */
    async renewKey(device: BoundDevice, hash: string, tail: string): Promise<void> {
      await db.run(sql`
        UPDATE api_key SET hash = ${hash}, tail = ${tail}
        WHERE tenant_id = ${device.tenant_id} AND id = ${device.key_id}
          AND hash = ${device.key_hash} AND revoked_at IS NULL`)
    },
  }
}

export type BoardStore = ReturnType<typeof createBoardStore>
