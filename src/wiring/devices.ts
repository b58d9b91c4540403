import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { randomBytes } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { createActivation } from '../features/devices/activation.ts'
import { createDevices } from '../features/devices/service.ts'
import {
  createActivationStore,
  createDeviceStore,
  type LastSeen,
} from '../features/devices/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { clientAddress } from '../http/client-address.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import { createWriteBehindQueue } from '../jobs/write-behind.ts'
import type { Db } from '../storage/db.ts'

export interface DeviceParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly db: Db
  readonly keys: Keys
}

/** Wires devices: management, activation, and the time each was last seen. */
export function openDevices({ config, clock, log, db, keys }: DeviceParts) {
  const store = createActivationStore(db)
  const lastSeen = createWriteBehindQueue<LastSeen>({
    clock,
    log,
    name: 'last seen',
    write: store.write,
  })
  return {
    devices: createDevices({ store: createDeviceStore(db), clock, keys, random: randomBytes }),
    /** For the routes that devices themselves call. */
    endpoints: {
      activation: createActivation({ store, clock, keys }),
      // Not the machine gate's limiter: it counts keys, this one counts addresses.
      limiter: createRateLimiter(clock),
      addressOf: clientAddress(config.MB_TRUST_PROXY),
    },
    lastSeen,
    /** Records that a device was seen; the write happens later. */
    onTurn({ tenantId, deviceId }: Principal): void {
      if (deviceId !== null) lastSeen.add({ tenantId, deviceId, at: clock.iso() })
    },
  }
}
