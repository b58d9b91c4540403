import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { Keys } from '../keys/service.ts'
import { hashOfInput } from './code.ts'
import type { DeviceActivateResponse, DeviceHeartbeatRequest } from './model.ts'
import type { ActivationStore } from './store.ts'

export interface ActivationOptions {
  readonly store: ActivationStore
  readonly clock: Clock
  readonly keys: Pick<Keys, 'mint'>
}

/** Expired, unknown and replaced are one and the same answer (specification, Errors 401). */

/** What devices themselves ask for: a key for their code, and to be known as alive. */
export function createActivation({ store, clock, keys }: ActivationOptions) {
  return {
    /**
     * The code is the only credential. Throws `gone` for a code that was used, `unauthorized` for
     * any other that is not valid.
     */
    async activate(input: string): Promise<DeviceActivateResponse> {
      const hash = hashOfInput(input)
      const owner = hash === null ? null : await store.ownerOfCode(hash)
      if (hash === null || !owner) throw appError('activation_code_wrong')
      const { issued, row } = keys.mint(owner.tenant_id, { deviceId: owner.id })
      if (await store.activate(hash, row, clock.iso())) {
        const app_id = await store.appOfKey(owner.tenant_id, issued.id)
        return { device_id: owner.id, key: issued.key, app_id }
      }
      // It may have been used since it was looked up, so that is asked once more.
      if ((await store.ownerOfCode(hash))?.key_id) throw appError('activation_code_used')
      throw appError('activation_code_wrong')
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

export type Activation = ReturnType<typeof createActivation>
