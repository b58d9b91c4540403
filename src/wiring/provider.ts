import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createSeal } from '../core/encryption.ts'
import type { Logger } from '../core/log.ts'
import { createProviderChannels } from '../features/provider/channel.ts'
import { createProvider } from '../features/provider/service.ts'
import { createProviderStore } from '../features/provider/store.ts'
import type { Db } from '../storage/db.ts'
import type { Byo } from './byo.ts'
import type { Platform } from './platform.ts'
import type { Secrets } from './secrets.ts'

export interface ProviderParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly secrets: Secrets
  readonly db: Db
  readonly platform: Platform
  readonly byo: Byo
}

/** The channels that tenants bring, and which channel answers whom. */
export function openProvider({ config, clock, log, secrets, db, platform, byo }: ProviderParts) {
  const store = createProviderStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const { channelOf, onWorking } = createProviderChannels({
    store,
    seal,
    clock,
    log,
    connect: byo.connect,
    platform: () => platform.get().llm,
  })
  const allow = config.MB_ALLOW_PRIVATE_HOSTS
  const provider = createProvider({ store, seal, allow, probe: byo.probe, onWorking })
  return { provider, channelOf }
}
