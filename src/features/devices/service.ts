import type { Clock } from '../../core/clock.ts'
import { newId, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { ACTIVATION_CODE_TTL_MS, DEVICES_MAX } from '../../core/limits/contract.ts'
import type { Statement } from '../../storage/db.ts'
import type { Keys, Maker } from '../keys/service.ts'
import { newCode } from './code.ts'
import type {
  Device,
  DeviceRecodeResponse,
  DeviceRegisterRequest,
  DeviceRegisterResponse,
  DeviceUpdateRequest,
} from './model.ts'
import type { DeviceStore, LastSeen } from './store.ts'

export interface DevicesOptions {
  readonly store: DeviceStore
  readonly clock: Clock
  readonly keys: Pick<Keys, 'ownLimits' | 'revokeOfDevice' | 'onRevoked'>
  readonly lastSeen: { add(seen: LastSeen): void }
  /** Statements that delete what else is the device's. */
  readonly removal: (tenantId: string, deviceId: string) => readonly Statement[]
  /** Returns this many bytes of cryptographic randomness. */
  readonly random: (bytes: number) => Uint8Array
}

const missing = () => appError('not_found', { what: 'device' })

/** Manages a tenant's devices. */
export function createDevices({ store, clock, keys, lastSeen, removal, random }: DevicesOptions) {
  function code() {
    const plain = newCode(random)
    const expiresAt = new Date(clock.now() + ACTIVATION_CODE_TTL_MS).toISOString()
    return { plain, hash: sha256Hex(plain), expiresAt }
  }

  async function read(tenantId: string, id: string): Promise<Device> {
    const device = await store.find(tenantId, id)
    if (!device) throw missing()
    return device
  }

  return {
    read,

    list: async (tenantId: string): Promise<{ devices: Device[] }> => ({
      devices: await store.list(tenantId),
    }),

    /** Throws `quota_devices` at the tenant's quota. */
    async register(
      maker: Maker,
      { name, app_id, hw_model }: DeviceRegisterRequest,
    ): Promise<DeviceRegisterResponse> {
      const { tenantId, keyId: madeBy } = maker
      const { plain, hash, expiresAt } = code()
      const device = { id: newId(), name, app_id, hw_model, created_at: clock.iso() }
      const row = {
        id: device.id,
        tenantId,
        name,
        appId: app_id,
        hwModel: hw_model,
        codeHash: hash,
        codeExpiresAt: expiresAt,
        madeBy,
        createdAt: device.created_at,
      }
      if (!(await store.insert(row, DEVICES_MAX))) {
        await keys.ownLimits(maker)
        throw appError('quota_devices', { max: DEVICES_MAX })
      }
      return { ...device, activation_code: plain, code_expires_at: expiresAt }
    },

    /** A new app applies to later activations only: an issued key keeps its app. */
    async update(tenantId: string, id: string, fields: DeviceUpdateRequest): Promise<Device> {
      const device = await read(tenantId, id)
      if (!(await store.update(tenantId, id, fields))) throw missing()
      return { ...device, ...fields }
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      const also = [keys.revokeOfDevice(tenantId, id), ...removal(tenantId, id)]
      if (!(await store.remove(tenantId, id, also))) throw missing()
      await keys.onRevoked(tenantId)
      return { id, deleted: true }
    },

    /** Notes that the device has asked; it is written later. */
    noteSeen: (tenantId: string, deviceId: string): void =>
      lastSeen.add({ tenantId, deviceId, at: clock.iso() }),

    /** Issues a new code and revokes the device's key. */
    async recode(maker: Maker, id: string): Promise<DeviceRecodeResponse> {
      const { tenantId, keyId: madeBy } = maker
      const { plain, hash, expiresAt } = code()
      const revoke = keys.revokeOfDevice(tenantId, id)
      if (!(await store.recode(tenantId, id, { hash, expiresAt, madeBy }, revoke))) {
        await keys.ownLimits(maker)
        throw missing()
      }
      await keys.onRevoked(tenantId)
      return { id, activation_code: plain, code_expires_at: expiresAt }
    },
  }
}

export type Devices = ReturnType<typeof createDevices>
