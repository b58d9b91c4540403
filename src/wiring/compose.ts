import { createApp } from '../app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { RATE_WINDOW_MS } from '../core/limits/contract.ts'
import { PERSON_REQUESTS_MAX, STUDIO_TURNS_MAX, TURN_BYTES_SURE } from '../core/limits/machine.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import type { Sockets } from '../doors/xiaozhi/sockets.ts'
import { createAgent } from '../features/agent/service.ts'
import { createTurnConfigStore } from '../features/agent/store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { bearer, gate } from '../http/gate.ts'
import { createJsonAnswers } from '../http/json-answers.ts'
import { createRequestContexts } from '../http/observe.ts'
import {
  createBodyTimers,
  createRateLimiter,
  createRequestMemory,
  personLimit,
} from '../http/request-limits.ts'
import { createSse, type Sse } from '../http/sse.ts'
import { createJobs, type Jobs, tenthOfTime } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import { openBackups } from './backups.ts'
import { openChat } from './chat.ts'
import { openConsole } from './console.ts'
import { openDevices, openXiaozhi } from './devices.ts'
import { requestBudgetBytes } from './machine.ts'
import { openMcp, openMcpServers } from './mcp.ts'
import { openProvider } from './models.ts'
import { openSite } from './monitoring.ts'
import { openOllama } from './ollama.ts'
import { openAudit, openKeys, openManagement, openRecords, openRemoval } from './services.ts'
import { openSessions } from './sessions.ts'
import { openSources } from './sources.ts'
import { openSystem } from './system.ts'
import { composeVoice } from './voice.ts'
import { openWyoming } from './wyoming.ts'

/** Each prune also checks the clock: soon after the clock was set, nothing is deleted. */
const PRUNE_EVERY_MS = 10 * MINUTE_MS
const ERASE_EVERY_MS = MINUTE_MS / 3

/** Creates all parts, each after those it depends on; nothing listens yet. */
export function compose(adapters: Adapters, limits: ServerLimits = {}) {
  const { config, clock, log, db, kb, parser, jsonParser } = adapters
  const jobs = createJobs({ clock, log })
  const http = openHttp(adapters, limits)
  const { budget, contexts, sse, limiter, uploads } = http
  const { logs, usage, budgets, buffers, record } = openRecords(adapters)

  const tenants = createTenants({ store: createTenantStore(db), clock })
  const { keys, openTurns, sockets } = openKeys({ ...adapters, usage, tenants })
  const servers = openMcpServers(adapters, jobs)
  const sources = openSources(adapters, jobs)
  const managed = { keys, budgets, tenants, sources, jobs, ...servers }
  const management = openManagement({ ...adapters, ...managed })
  const audit = openAudit(adapters)
  const stock = openDevices({ ...adapters, ...audit, keys, secret: adapters.secrets.session })
  const { devices, endpoints, lastSeen } = stock
  const { provider, channelOf, modelLists } = openProvider(adapters)
  const talk = openSessions({ ...adapters, ...{ jobs, budget } })
  const configs = createTurnConfigStore(db)
  const caller = { keys, budgets, usage, devices, openTurns }
  const turn = { ...turnAdapters(adapters), ...talk, ...servers, budget, configs, channelOf }
  const agent = createAgent({ ...turn, ...caller })
  const voice = composeVoice({ ...adapters, agent, contexts, record, openTurns })
  const records = { audit, keys, logs, modelLists, usage, openTurns, ...management }

  const calls = { limiter, checkBudget: budgets.check, onAdmitted: usage.countCall }
  const ollama = openOllama({ ...adapters, keys })
  const { standIn } = ollama
  const bearerKey = bearer({ ...calls, contexts, keys, standIn })
  const wyoming = openWyoming({ ...adapters, ...voice, ...records, agent, calls, record })
  const secret = adapters.secrets.session
  const removal = openRemoval({ ...adapters, sources, jobs })
  const heads = { removal, secret, head: adapters.pages.head }
  const people = openConsole({ ...adapters, ...http, ...audit, ...managed, ...heads })
  const system = openSystem(adapters, jobs, tenants)
  const chat = openChat(adapters, management.apps)
  const parts = { ...kb.services, ...people.services, ...talk.services, system }
  const app = createApp({
    services: { ...records, ...parts, ...stock, agent, sources, provider, voice, ...http },
    machineGate: gate('machine', bearerKey, uploads),
    consoleGate: people.gate,
    auth: people.login,
    deviceEndpoints: endpoints,
    chat,
    ollama,
    clock,
    mcp: openMcp({ ...adapters, agent, configs }),
    xiaozhi: openXiaozhi({
      ...adapters,
      ...voice,
      ...{ stock, agent, budget, sockets, keys, calls },
    }),
    ...openSite(adapters, sse, openBackups(adapters, jobs), sources.open),
    ...http,
    pages: adapters.pages,
    log,
    tls: config.MB_TLS_CERT !== undefined,
    verbose: config.MB_LOG_LEVEL === 'debug',
    record,
  })
  const kept = [
    logs,
    usage,
    audit.audit,
    management.shares,
    chat.keptItems,
    people.sessions,
    removal,
  ]
  const prune = schedule(adapters, jobs, kept, servers)

  const written = { ...buffers, lastSeen, citations: kb.citations }
  // Parts that still write are closed before the parts that they write to.
  const { reader, scans, live, modelPack, shared, vad } = adapters
  const processes = [parser, jsonParser, ...(vad ? [vad] : [])]
  const writers = [jobs, ...processes, ...Object.values(written)]
  const closing = [...writers, reader, scans, live, modelPack, shared, db]
  const close = () => closeAll(log, closing)
  const doors = { app, wyoming, ollama, sse: closedWith(sse, sockets), people }
  return { ...doors, budget, jobs, keys, buffers: written, prune, sources, servers, close }
}

/** Streams and sockets end together when the server stops. */
const closedWith = ({ open, close }: Sse, sockets: Sockets) => ({
  open,
  close() {
    close()
    sockets.close()
  },
})

/** The adapters that a turn uses. */
const turnAdapters = (adapters: Adapters) => {
  const { clock, log, builtInTools, metrics, kb, egress, shared } = adapters
  return {
    ...{ clock, log, builtInTools },
    meters: metrics.meters,
    turnOrder: shared.turnOrder,
    retrieve: kb.service.retrieve,
    imageGuard: egress.publicOnly,
  }
}

/** The one list of jobs that run at intervals. Returns the job that deletes old records. */
function schedule(
  { kb, platform, log, db, clock }: Adapters,
  jobs: Jobs,
  kept: readonly { readonly prune: () => Promise<void> }[],
  { retryDue }: ReturnType<typeof openMcpServers>,
): () => Promise<void> {
  const prune = async () => {
    for (const records of kept) await records.prune()
  }
  const erase = tenthOfTime(clock, async (signal) => db.erase?.(signal))
  jobs.every('erase deleted data', ERASE_EVERY_MS, erase)
  jobs.every('prune logs', PRUNE_EVERY_MS, prune)
  jobs.every('list mcp tools', MINUTE_MS, retryDue)
  jobs.run('embed anew', kb.reembed.run)
  jobs.every('embed anew', MINUTE_MS, kb.reembed.run)
  jobs.every('look for a model server', platform.lookAgainMs, async () => {
    if (await platform.lookAgain())
      log.info('model found', { channel: platform.channel.current.description })
  })
  return prune
}

interface Closeable {
  close(): Promise<void>
}

/** Closes the parts one after another; a part that fails does not keep the next from closing. */
async function closeAll(log: Logger, parts: readonly Closeable[]): Promise<void> {
  for (const part of parts) {
    try {
      await part.close()
    } catch (error) {
      log.error('close failed', errorFields(error))
    }
  }
}

/** Limits that tests set to other values; 0 requests a minute are unlimited. */
export interface ServerLimits {
  /** Memory for the bodies of requests and the answers in progress. */
  readonly requestBytesMax?: number
  readonly personRequestsMax?: number
  readonly studioTurnsMax?: number
}

/** What all routes share: memory and time of requests, streams, lists, and rate limits. */
function openHttp(adapters: Adapters, limits: ServerLimits) {
  const { requestBytesMax = requestBudgetBytes() } = limits
  const { personRequestsMax = PERSON_REQUESTS_MAX } = limits
  const { studioTurnsMax = STUDIO_TURNS_MAX } = limits
  const { config, clock, log, shared, jsonParser } = adapters
  const onError = (error: unknown) => log.error('stream failed', errorFields(error))
  const budget = createMemoryBudget(requestBytesMax, TURN_BYTES_SURE)
  const memory = createRequestMemory(budget)
  const limiter = createRateLimiter(shared.openWindows('key', RATE_WINDOW_MS))
  return {
    budget,
    memory,
    limiter,
    contexts: createRequestContexts(clock.steady),
    answers: createJsonAnswers({ clock, budget, onError }),
    sse: createSse({ clock, streamsMax: config.MB_MAX_STREAMS, memory, onError }),
    uploads: {
      timerFor: createBodyTimers({ steady: clock.steady, memory }),
      hold: memory.add,
      parse: jsonParser.parse,
    },
    personLimit: personLimit(limiter, 'console', personRequestsMax),
    studioLimit: personLimit(limiter, 'studio', studioTurnsMax),
  }
}
