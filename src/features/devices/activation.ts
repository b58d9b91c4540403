import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { RATE_LIMIT_DEFAULT } from '../../core/limits/contract.ts'
import { KEYS_MAX } from '../../core/limits/machine.ts'
import { withinOwn } from '../../core/own-limits.ts'
import type { Keys } from '../keys/service.ts'
import { hashOfInput } from './code.ts'
import type { DeviceActivateResponse, DeviceHeartbeatRequest } from './model.ts'
import type { ActivationStore, CodeOwner } from './store.ts'

export interface ActivationOptions {
  readonly store: ActivationStore
  readonly clock: Clock
  readonly keys: Pick<Keys, 'mint'>
}

export interface Activated {
  readonly answer: DeviceActivateResponse
  readonly tenantId: string
  /** The id of the device's new key. */
  readonly keyId: string
}

/** Expired, unknown and replaced codes get the same answer. */

/** The requests of devices themselves: a key in exchange for a code, and the heartbeat. */
export function createActivation({ store, clock, keys }: ActivationOptions) {
  /**
   * The error for a code that did not activate, by its state now: another request may have used it.
   */
  function refusal(owner: CodeOwner | null) {
    if (owner?.key_id) return appError('activation_code_used')
    const isOpen = (owner?.code_expires_at ?? '') > clock.iso()
    return isOpen ? appError('quota_keys', { max: KEYS_MAX }) : appError('activation_code_wrong')
  }

  return {
    /**
     * The code is the only credential. Throws `activation_code_used`, `quota_keys` when the tenant
     * can hold no more keys, and `activation_code_wrong` for every other code.
     */
    async activate(input: string): Promise<Activated> {
      const hash = hashOfInput(input)
      const owner = hash === null ? null : await store.ownerOfCode(hash)
      if (hash === null || !owner) throw appError('activation_code_wrong')
      const { issued, row } = keys.mint(owner.tenant_id, scopeOf(owner))
      if (await store.activate(hash, row, KEYS_MAX, clock.iso())) {
        const app_id = await store.appOfKey(owner.tenant_id, issued.id)
        const answer = { device_id: owner.id, key: issued.key, app_id }
        return { answer, tenantId: owner.tenant_id, keyId: issued.id }
      }
      throw refusal(await store.ownerOfCode(hash))
    },

    async heartbeat(
      tenantId: string,
      deviceId: string,
      told: DeviceHeartbeatRequest,
    ): Promise<{ device_id: string; last_seen_at: string }> {
      const at = clock.iso()
      if (!(await store.heartbeat({ tenantId, deviceId, at }, told))) {
        throw appError('device_deleted')
      }
      return { device_id: deviceId, last_seen_at: at }
    },
  }
}

/** The key of a device has the limits of the key that issued its code, but at most the default. */
export const scopeOf = (
  device: Pick<CodeOwner, 'id' | 'made_by' | 'maker_rate' | 'maker_tokens'>,
) => ({
  deviceId: device.id,
  madeBy: device.made_by,
  rateLimit: withinOwn('rate_limit', device.maker_rate ?? 0, undefined, RATE_LIMIT_DEFAULT),
  dailyTokens: device.maker_tokens ?? 0,
})

export type Activation = ReturnType<typeof createActivation>
