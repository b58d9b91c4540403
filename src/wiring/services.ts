import { createSeal, newId } from '../core/crypto.ts'
import { createSockets } from '../doors/xiaozhi/sockets.ts'
import { createOpenTurns, type OpenTurns } from '../features/agent/open-turns.ts'
import type { Apps } from '../features/apps/service.ts'
import { type AuditCode, createAudit } from '../features/audit/service.ts'
import { createAuditStore } from '../features/audit/store.ts'
import { createFeedback } from '../features/feedback/service.ts'
import { createFeedbackStore } from '../features/feedback/store.ts'
import { createKeys, type Keys } from '../features/keys/service.ts'
import { createKeyStore } from '../features/keys/store.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type RowEnd, type WaitingRow } from '../features/logs/store.ts'
import type { McpServers } from '../features/mcp-servers/service.ts'
import type { Personas } from '../features/personas/service.ts'
import type { Prompts } from '../features/prompts/service.ts'
import { createRunStore } from '../features/runs/run-store.ts'
import type { Schedules } from '../features/runs/schedules.ts'
import type { Settings } from '../features/settings/service.ts'
import { createShares } from '../features/shares/service.ts'
import { createShareStore } from '../features/shares/store.ts'
import { createTenantLimitStore } from '../features/tenants/limits-store.ts'
import { createRemoval } from '../features/tenants/removal.ts'
import { createRemovalStore } from '../features/tenants/removal-store.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createTransfer } from '../features/transfer/service.ts'
import { type Budgets, type BudgetsOptions, createBudgets } from '../features/usage/budgets.ts'
import { addToSum, createUsage, keyOfSum, type Usage } from '../features/usage/service.ts'
import { createUsageStore, type UsageSum } from '../features/usage/store.ts'
import type { Outbox } from '../features/webhooks/outbox.ts'
import type { Webhooks } from '../features/webhooks/service.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWriteBehindQueue, createWriteBehindSums } from '../jobs/write-behind.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'
import type { OpenedSessions } from './sessions.ts'
import type { OpenedSources } from './sources.ts'

interface KeyNeeds {
  readonly usage: Pick<Usage, 'activity'>
  readonly tenants: Pick<Tenants, 'roleIn'>
}

/** Wires keys to the turns and sockets that end with them. */
export function openKeys({ db, shared, clock }: Adapters, { usage, tenants }: KeyNeeds) {
  const { announcer, leases } = shared
  const keys = createKeys({
    store: createKeyStore(db),
    clock,
    activity: usage.activity,
    onRevoked: recheck,
  })
  const turns = createOpenTurns({ clock, keys, tenants, shares: createShareStore(db) })
  const sockets = createSockets(keys.stillValid, leases)
  const runs = createRunStore(db)
  const recheckHere = (tenantId: string) =>
    Promise.all([turns.recheck(tenantId), sockets.recheck(tenantId)])
  announcer.on('revoked', recheckHere)
  /** Ends open turns and sockets whose key is no longer valid, in this process and in others. */
  async function recheck(tenantId: string): Promise<void> {
    await runs.stopRevoked(tenantId, clock.now())
    await Promise.all([recheckHere(tenantId), announcer.announce('revoked', tenantId)])
  }
  const openTurns: OpenTurns = { run: turns.run, stream: turns.stream, count: turns.count, recheck }
  return { service: keys, openTurns, sockets }
}

interface ShareNeeds {
  readonly apps: Apps
  readonly keys: Keys
  readonly budgets: Budgets
}

/** Wires the links at which anybody can talk to an app. */
export function openShares({ db, clock, secrets }: Adapters, { apps, keys, budgets }: ShareNeeds) {
  const store = createShareStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  return createShares({ store, apps, keys, budgets, seal, clock, onClosed: keys.onRevoked })
}

/** Wires the thumbs for answers. */
export function openFeedback(
  { db, scans, clock }: Adapters,
  { service }: OpenedSessions,
  outbox: Outbox,
) {
  const store = createFeedbackStore(db, scans)
  return createFeedback({ store, clock, isSeen: service.isSeen, outbox })
}

interface TransferNeeds {
  readonly personas: Personas
  readonly apps: Apps
  readonly settings: Settings
  readonly prompts: Prompts
  readonly schedules: Schedules
  readonly webhooks: Webhooks
  readonly mcpServers: McpServers
  readonly kb: Knowledge
  readonly sources: OpenedSources
  readonly jobs: Jobs
}

/** Wires export and import of what a tenant has set, and of its documents. */
export function openTransfer({ clock, log, shared }: Adapters, needs: TransferNeeds) {
  const { personas, apps, settings, prompts, schedules, webhooks, mcpServers, kb } = needs
  const { sources, jobs } = needs
  return createTransfer({
    personas,
    apps,
    settings,
    prompts,
    schedules,
    webhooks,
    mcpServers,
    clock,
    log,
    collections: sources.collections,
    documents: {
      collections: sources.collections,
      docs: kb.archive,
      sources: sources.archive,
      clock,
      log,
    },
    leases: shared.leases,
    onDocuments() {
      jobs.run('remove old documents', sources.archive.sweep)
      jobs.run('embed anew', kb.reembed.run)
    },
  })
}

interface RemovalNeeds {
  readonly kb: Knowledge
  readonly sources: OpenedSources
  readonly jobs: Jobs
}

/** Wires the removal of tenants that have lost their last member. */
export function openRemoval({ db, clock }: Adapters, { kb, sources, jobs }: RemovalNeeds) {
  const store = createRemovalStore(db)
  const { sweep } = kb.parts
  const { run, prune } = createRemoval({
    store,
    clock,
    removeSource: sources.service.discard,
    sweep,
  })
  return { run, prune, wake: () => jobs.run('remove tenants', run) }
}

/** Wires the audit log, to which the routes of both sides report changes. */
export function openAudit({ db, clock, log, config, live }: Adapters) {
  const audit = createAudit({
    store: createAuditStore(db),
    clock,
    log,
    days: () => live.config().MB_LOG_DAYS,
  })
  const addressOf = clientAddress(config.MB_TRUST_PROXY)
  const auditCode: AuditCode = (request, server, made) => {
    const { method = 'POST', route, target, name = null, ...principal } = made
    const address = addressOf(request, server)
    return audit.record({ principal, method, route, target, name, address })
  }
  return { audit, addressOf, auditCode }
}

/** As long as other processes collect counts before they store them. */
const SHARED_BUDGET_MS = 1_000

/** Wires what is written about answered requests: log rows and the count of calls. */
export function openRecords(
  { db, shared, scans, clock, log, live }: Adapters,
  onSpent: NonNullable<BudgetsOptions['onSpent']>,
) {
  const store = createLogStore(db, scans)
  const rows = createWriteBehindQueue<WaitingRow | RowEnd>({
    clock,
    log,
    name: 'request log',
    write: store.write,
  })
  const usageStore = createUsageStore(db, scans, newId())
  const sums = createWriteBehindSums<UsageSum>({
    clock,
    log,
    name: 'usage',
    keyOf: keyOfSum,
    addTo: addToSum,
    write: (sums, number) => usageStore.write(sums, number, clock.now()),
  })
  const { betweenWrites } = sums
  const keptMs = shared.isAlone ? Number.POSITIVE_INFINITY : SHARED_BUDGET_MS
  const budgets = createBudgets({ store: usageStore, clock, keptMs, betweenWrites, onSpent })
  const logs = createLogs({ store, clock, buffer: rows, days: () => live.config().MB_LOG_DAYS })
  return {
    logs,
    usage: createUsage({ store: usageStore, clock, sums, budgets }),
    budgets,
    buffers: { rows, sums },
  }
}

/** Wires what operators see of tenants, and their limits. */
export const openTenantLimits = (
  { db, clock, live }: Adapters,
  { flush }: Pick<Usage, 'flush'>,
) => ({
  store: createTenantLimitStore(db),
  clock,
  docsMax: () => live.config().MB_KB_MAX_DOCS,
  flush,
})
