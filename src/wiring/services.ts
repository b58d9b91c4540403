import type { Clock } from '../core/clock.ts'
import { newId } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import { createSockets } from '../doors/xiaozhi/sockets.ts'
import { createOpenTurns, type OpenTurns } from '../features/agent/open-turns.ts'
import { createApps } from '../features/apps/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import { type AuditCode, createAudit } from '../features/audit/service.ts'
import { createAuditStore } from '../features/audit/store.ts'
import { createKeys, type Keys } from '../features/keys/service.ts'
import { createKeyStore } from '../features/keys/store.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type RowEnd, type WaitingRow } from '../features/logs/store.ts'
import type { McpServers } from '../features/mcp-servers/service.ts'
import { createPersonas } from '../features/personas/service.ts'
import { createPersonaStore } from '../features/personas/store.ts'
import { createPrompts } from '../features/prompts/service.ts'
import { createPromptStore } from '../features/prompts/store.ts'
import { createSettings } from '../features/settings/service.ts'
import { createSettingsStore } from '../features/settings/store.ts'
import { createShares } from '../features/shares/service.ts'
import { createShareStore } from '../features/shares/store.ts'
import { createRemoval } from '../features/tenants/removal.ts'
import { createRemovalStore } from '../features/tenants/removal-store.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createTransfer } from '../features/transfer/service.ts'
import {
  addToSum,
  type Budgets,
  createBudgets,
  createUsage,
  keyOfSum,
  type Usage,
} from '../features/usage/service.ts'
import { createUsageStore, type UsageSum } from '../features/usage/store.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWriteBehindQueue, createWriteBehindSums } from '../jobs/write-behind.ts'
import type { Db, Reader } from '../storage/db.ts'
import type { SharedState } from '../storage/shared-state.ts'
import { createCalculator } from '../tools/calculator.ts'
import { createCurrentTime } from '../tools/current-time.ts'
import { createFetchUrl } from '../tools/fetch-url.ts'
import type { Tool } from '../tools/tool.ts'
import { createWebSearch } from '../tools/web-search.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Parser } from '../upstream/ports/parser.ts'
import type { Adapters, Egress } from './adapters.ts'
import type { LiveSettings } from './live-settings.ts'
import type { openSources } from './sources.ts'

export interface KeyParts {
  readonly db: Db
  readonly shared: Pick<SharedState, 'announcer' | 'leases'>
  readonly clock: Clock
  readonly usage: Pick<Usage, 'activity'>
  readonly tenants: Pick<Tenants, 'roleIn'>
}

/** Wires keys to the turns and sockets that end with them. */
export function openKeys({ db, shared, clock, usage, tenants }: KeyParts) {
  const { announcer, leases } = shared
  const keys = createKeys({
    store: createKeyStore(db),
    clock,
    activity: usage.activity,
    onRevoked: recheck,
  })
  const turns = createOpenTurns({ clock, keys, tenants, shares: createShareStore(db) })
  const sockets = createSockets(keys.stillValid, leases)
  const recheckHere = (tenantId: string) =>
    Promise.all([turns.recheck(tenantId), sockets.recheck(tenantId)])
  announcer.on('revoked', recheckHere)
  /** Ends open turns and sockets whose key is no longer valid, in this process and in others. */
  async function recheck(tenantId: string): Promise<void> {
    await Promise.all([recheckHere(tenantId), announcer.announce('revoked', tenantId)])
  }
  const openTurns: OpenTurns = { ...turns, recheck }
  return { keys, openTurns, sockets }
}

export interface ManagementParts {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly keys: Keys
  readonly budgets: Budgets
  readonly mcpServers: McpServers
  readonly tenants: Tenants
  readonly kb: Pick<Adapters['kb'], 'archive' | 'reembed'>
  readonly sources: Pick<ReturnType<typeof openSources>, 'archive'>
  readonly jobs: Jobs
  readonly shared: Pick<SharedState, 'leases'>
}

/** Wires the settings of a tenant's assistants, and their export and import. */
export function openManagement(parts: ManagementParts) {
  const { db, clock, log, keys, mcpServers, tenants, kb, sources, jobs, shared } = parts
  const apps = createApps({ store: createAppStore(db), keys, clock })
  const personas = createPersonas({ store: createPersonaStore(db), clock })
  const prompts = createPrompts({ store: createPromptStore(db), clock })
  const settings = createSettings({ store: createSettingsStore(db), tenants })
  const transfer = createTransfer({
    ...{ personas, apps, settings, prompts, mcpServers, clock, log },
    documents: { docs: kb.archive, sources: sources.archive, clock, log },
    leases: shared.leases,
    onDocuments() {
      jobs.run('remove old documents', sources.archive.sweep)
      jobs.run('embed anew', kb.reembed.run)
    },
  })
  const { onRevoked: onRemoved } = keys
  const shares = createShares({
    store: createShareStore(db),
    apps,
    keys,
    budgets: parts.budgets,
    clock,
    onRemoved,
  })
  return { apps, personas, settings, prompts, mcpServers, transfer, shares }
}

export interface RemovalParts {
  readonly db: Db
  readonly clock: Clock
  readonly kb: { readonly parts: Pick<Adapters['kb']['parts'], 'sweep'> }
  readonly sources: Pick<ReturnType<typeof openSources>, 'discard'>
  readonly jobs: Jobs
}

/** Wires the removal of tenants that have lost their last member. */
export function openRemoval({ db, clock, kb, sources, jobs }: RemovalParts) {
  const store = createRemovalStore(db)
  const { sweep } = kb.parts
  const { run } = createRemoval({ store, clock, removeSource: sources.discard, sweep })
  return { prune: run, wake: () => jobs.run('remove tenants', run) }
}

export interface RecordParts {
  readonly db: Db
  readonly shared: Pick<SharedState, 'isAlone'>
  readonly scans: Reader
  readonly clock: Clock
  readonly log: Logger
}

/** Wires the audit log, to which the routes of both sides report changes. */
export function openAudit({
  db,
  clock,
  log,
  config,
}: Pick<Adapters, 'db' | 'clock' | 'log' | 'config'>) {
  const audit = createAudit({ store: createAuditStore(db), clock, log })
  const addressOf = clientAddress(config.MB_TRUST_PROXY)
  const auditCode: AuditCode = (request, server, { route, target, ...principal }) => {
    const address = addressOf(request, server)
    return audit.record({ principal, method: 'POST', route, target, address })
  }
  return { audit, addressOf, auditCode }
}

/** As long as other processes collect counts before they store them. */
const SHARED_BUDGET_MS = 1_000

/** Wires what is written about answered requests: log rows and the count of calls. */
export function openRecords({ db, shared, scans, clock, log }: RecordParts) {
  const store = createLogStore(db, scans)
  const rows = createWriteBehindQueue<WaitingRow | RowEnd>({
    clock,
    log,
    name: 'request log',
    write: store.write,
  })
  const usageStore = createUsageStore(db, scans, newId())
  const sums = createWriteBehindSums<UsageSum>({
    ...{ clock, log, name: 'usage', keyOf: keyOfSum, addTo: addToSum },
    write: (sums, number) => usageStore.write(sums, number, clock.now()),
  })
  const { betweenWrites } = sums
  const keptMs = shared.isAlone ? Number.POSITIVE_INFINITY : SHARED_BUDGET_MS
  const budgets = createBudgets({ store: usageStore, clock, keptMs, betweenWrites })
  const logs = createLogs({ store, clock, buffer: rows })
  return {
    logs,
    usage: createUsage({ store: usageStore, clock, sums, budgets }),
    budgets,
    buffers: { rows, sums },
    record: logs.record,
  }
}

export interface ToolParts {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly fetch: UpstreamFetch
  readonly egress: Egress
  readonly parser: Parser
}

/** The built-in tools, in the order a model is offered them; web search while an engine is set. */
export function openTools({ live, clock, fetch, egress, parser }: ToolParts) {
  const builtIn = [
    createCurrentTime(clock),
    createCalculator(),
    createFetchUrl({ fetchFor: egress.fetchFor, parser, clock }),
  ]
  return live.part(['MB_SEARCH_URL'], ({ MB_SEARCH_URL: root }): Tool[] =>
    root === undefined ? builtIn : [...builtIn, createWebSearch({ fetch, clock, root })],
  )
}
