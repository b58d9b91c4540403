import type { Embedder } from '../channels/ports/embedder.ts'
import type { Parser } from '../channels/ports/parser.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { randomBytes } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { createApps } from '../features/apps/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import { createActivation } from '../features/devices/activation.ts'
import { createDevices } from '../features/devices/service.ts'
import {
  createActivationStore,
  createDeviceStore,
  type LastSeen,
} from '../features/devices/store.ts'
import { createSharedEmbedder } from '../features/kb/embedding.ts'
import { createReembed } from '../features/kb/reembed.ts'
import { createSearch } from '../features/kb/search.ts'
import { createKb } from '../features/kb/service.ts'
import { createStaleStore } from '../features/kb/stale-store.ts'
import { createKbStore } from '../features/kb/store.ts'
import { searchTool } from '../features/kb/tool.ts'
import type { Keys } from '../features/keys/service.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type LogRow } from '../features/logs/store.ts'
import { createPersonas } from '../features/personas/service.ts'
import { createPersonaStore } from '../features/personas/store.ts'
import { createSettings } from '../features/settings/service.ts'
import { createSettingsStore } from '../features/settings/store.ts'
import { createStatus } from '../features/site/status.ts'
import { createTransfer } from '../features/transfer/service.ts'
import { createUsage } from '../features/usage/service.ts'
import { createUsageStore, type UsageEvent, usageKey } from '../features/usage/store.ts'
import { clientAddress } from '../http/client-address.ts'
import type { LoggedRequest } from '../http/observe.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Sse } from '../http/sse.ts'
import { createWriteBehindCounter, createWriteBehindQueue } from '../jobs/write-behind.ts'
import type { Db, Reader } from '../storage/db.ts'
import type { ReadThread } from '../storage/sqlite/read-thread.ts'
import { openVectorIndex } from '../storage/sqlite/vectors.ts'
import { createWordIndex } from '../storage/sqlite/words.ts'
import { createCalculator } from '../tools/calculator.ts'
import { createCurrentTime } from '../tools/current-time.ts'
import { createFetchUrl } from '../tools/fetch-url.ts'
import type { Tool } from '../tools/tool.ts'
import type { Adapters } from './adapters.ts'
import type { Egress } from './egress.ts'
import { openProbes } from './probes.ts'

export interface KnowledgeOptions {
  readonly db: Db
  readonly reader: ReadThread
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Logger
}

export type Knowledge = Awaited<ReturnType<typeof openKnowledge>>

/** The knowledge base with its two indexes. */
export async function openKnowledge(options: KnowledgeOptions) {
  const { db, reader, clock, log } = options
  const embedder = createSharedEmbedder(options.embedder, clock)
  const vectors = await openVectorIndex(db, reader)
  const words = createWordIndex(reader)
  const store = createKbStore({ db, reader, vectors, words })
  const search = createSearch({ store, embedder, vectors, words })
  const service = createKb({ store, embedder, search, clock })
  return {
    service,
    reembed: createReembed({
      store: createStaleStore({ db, vectors, words }),
      embedder,
      clock,
      log,
    }),
    toolsFor: searchTool(service.retrieve),
  }
}

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

export interface RecordParts {
  readonly db: Db
  readonly reader: Reader
  readonly clock: Clock
  readonly log: Logger
}

/** What is written of requests after they were answered: log rows and the count of calls. */
export function openRecords({ db, reader, clock, log }: RecordParts) {
  const store = createLogStore(db, reader)
  const rows = createWriteBehindQueue<LogRow>({
    clock,
    log,
    name: 'request log',
    write: store.write,
  })
  const usageStore = createUsageStore(db)
  const calls = createWriteBehindCounter<UsageEvent>({
    clock,
    log,
    name: 'usage',
    keyOf: usageKey,
    write: usageStore.write,
  })
  const logs = createLogs({ store, clock, buffer: rows })
  return {
    logs,
    usage: createUsage({ store: usageStore, clock, counter: calls }),
    buffers: { rows, calls },
    record: (request: LoggedRequest) => logs.record(logRow(request, clock.now())),
  }
}

function logRow({ principal, ...request }: LoggedRequest, ts: number) {
  return {
    tenantId: principal?.tenantId ?? '',
    appId: principal?.appId ?? null,
    deviceId: principal?.deviceId ?? null,
    ts,
    endpoint: request.endpoint,
    status: request.status,
    latencyMs: request.latencyMs,
    sessionId: request.sessionId,
    textChars: request.textChars,
    errorClass: request.errorClass,
    channel: request.channel,
  }
}

/** The built-in tools, in the order a model is offered them. */
export function builtInTools(clock: Clock, { fetchFor }: Egress, parser: Parser): Tool[] {
  return [createCurrentTime(clock), createCalculator(), createFetchUrl({ fetchFor, parser, clock })]
}

/** What the public pages show of the server's state, and what /metrics shows to its operator. */
export function openSite(adapters: Adapters, sse: Sse) {
  const { clock, db, metrics, embedder } = adapters
  metrics.watch({ streams: sse.open, embeddingTexts: embedder.pending })
  const status = createStatus({ clock, ...openProbes(adapters) })
  return { status, takesWrites: db.takesWrites, metrics }
}
