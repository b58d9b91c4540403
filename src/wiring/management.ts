import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { createApps } from '../features/apps/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { createPersonas } from '../features/personas/service.ts'
import { createPersonaStore } from '../features/personas/store.ts'
import { createSettings } from '../features/settings/service.ts'
import { createSettingsStore } from '../features/settings/store.ts'
import { createTransfer } from '../features/transfer/service.ts'
import type { Db } from '../storage/db.ts'

export interface ManagementParts {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly keys: Keys
}

/** How a tenant's assistants are set up, and the document that carries it elsewhere. */
export function openManagement({ db, clock, log, keys }: ManagementParts) {
  const apps = createApps({ store: createAppStore(db), keys, clock })
  const personas = createPersonas({ store: createPersonaStore(db), clock })
  const settings = createSettings({ store: createSettingsStore(db) })
  const transfer = createTransfer({ personas, apps, settings, clock, log })
  return { apps, personas, settings, transfer }
}
