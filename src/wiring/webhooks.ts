import { MINUTE_MS } from '../core/clock.ts'
import { createSeal } from '../core/crypto.ts'
import { RATE_WINDOW_MS } from '../core/limits/contract.ts'
import { createAppStore } from '../features/apps/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { dropWebhookOfSchedules } from '../features/runs/schedule-store.ts'
import type { SessionStore } from '../features/sessions/store.ts'
import type { Settings } from '../features/settings/service.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createTriggers, type StartRun } from '../features/triggers/service.ts'
import { createTriggerStore, dropWebhookOfTriggers } from '../features/triggers/store.ts'
import { createDeliveryStore } from '../features/webhooks/delivery-store.ts'
import { createPresence } from '../features/webhooks/presence.ts'
import { createSender } from '../features/webhooks/sender.ts'
import { createWebhooks } from '../features/webhooks/service.ts'
import { createWebhookStore } from '../features/webhooks/store.ts'
import { createToldStore } from '../features/webhooks/told-store.ts'
import { createWebhookWorker } from '../features/webhooks/worker.ts'
import { clientAddress } from '../http/client-address.ts'
import { createRateLimiter } from '../http/request-limits.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'

/** How often the job looks for deliveries that are due, and for devices that came or went. */
const LOOK_EVERY_MS = 1_000
const PRESENCE_EVERY_MS = MINUTE_MS / 12

interface WebhookNeeds {
  readonly settings: Pick<Settings, 'get'>
  readonly jobs: Jobs
}

export type OpenedWebhooks = ReturnType<typeof openWebhooks>

/** Wires webhooks: what is told of changes, and the jobs that send it. */
export function openWebhooks(adapters: Adapters, { settings, jobs }: WebhookNeeds) {
  const { live, clock, log, db, shared, secrets, egress, metrics } = adapters
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const languageOf = async (tenantId: string) => (await settings.get(tenantId)).language ?? 'zh'
  const sender = createSender({ seal, fetchFor: egress.fetchFor, languageOf, clock })
  const store = createWebhookStore(db)
  const deliveries = createDeliveryStore(db)
  const worker = createWebhookWorker({
    store,
    deliveries,
    sender,
    jobs,
    isAlone: shared.isAlone,
    random: Math.random,
    clock,
    log,
    meters: metrics.meters,
  })
  const { outbox } = worker
  const presence = createPresence({ store: createToldStore(db), outbox, clock })
  jobs.every('deliver webhooks', LOOK_EVERY_MS, worker.startDue)
  jobs.every('look for devices', PRESENCE_EVERY_MS, presence.look)
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const dropping = (tenantId: string, id: string) => [
    dropWebhookOfSchedules(tenantId, id),
    dropWebhookOfTriggers(tenantId, id),
  ]
  return {
    service: createWebhooks({ store, deliveries, sender, seal, dropping, allow, clock }),
    outbox,
    languageOf,
    look: presence.look,
    startDue: worker.startDue,
    /** Tells once a day that a key has used its tokens. */
    onSpent(tenantId: string, keyId: string, day: number): void {
      jobs.run('tell a spent budget', () => presence.spent(tenantId, keyId, day))
    },
  }
}

interface TriggerNeeds {
  readonly webhooks: OpenedWebhooks
  readonly keys: Keys
  readonly tenants: Tenants
  readonly ownerOf: SessionStore['ownerOf']
  readonly startRun: StartRun
}

/** Wires triggers: addresses at which a call from outside begins a run. */
export function openTriggers(adapters: Adapters, needs: TriggerNeeds) {
  const { config, clock, db, shared } = adapters
  const { webhooks, keys, tenants, ownerOf, startRun } = needs
  const triggers = createTriggers({
    store: createTriggerStore(db),
    clock,
    hasApp: createAppStore(db).has,
    hasWebhooks: webhooks.service.has,
    ownerOf,
    isKeyValid: keys.stillValid,
    roleIn: tenants.roleIn,
    languageOf: webhooks.languageOf,
    startRun,
  })
  const limiter = createRateLimiter(shared.openWindows('hook', RATE_WINDOW_MS))
  return {
    service: triggers,
    hooks: { triggers, limiter, addressOf: clientAddress(config.MB_TRUST_PROXY) },
  }
}
