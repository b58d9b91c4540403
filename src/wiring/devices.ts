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
  type Sighting,
} from '../features/devices/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { clientAddress } from '../http/client-address.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import { createBuffer } from '../jobs/write-behind-queue.ts'
import type { Db } from '../storage/db.ts'

export interface DeviceParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly db: Db
  readonly keys: Keys
}

/** Devices: their management, the way to their keys, and when they were last heard of. */
export function openDevices({ config, clock, log, db, keys }: DeviceParts) {
  const store = createActivationStore(db)
  const sightings = createBuffer<Sighting>({ clock, log, name: 'last seen', write: store.write })
  return {
    devices: createDevices({ store: createDeviceStore(db), clock, keys, random: randomBytes }),
    /** What the device's own endpoints need. */
    endpoints: {
      activation: createActivation({ store, clock, keys }),
      // Apart from the machine gate's limiter: these callers are addresses, not keys.
      limiter: createRateLimiter(clock),
      addressOf: clientAddress(config.MB_TRUST_PROXY),
    },
    sightings,
    /** Takes note that a device is alive, without keeping anyone waiting. */
    onTurn({ tenantId, deviceId }: Principal): void {
      if (deviceId !== null) sightings.add({ tenantId, deviceId, at: clock.iso() })
    },
  }
}
