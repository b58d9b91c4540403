import { createApp } from '../app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'
import type { Sockets } from '../doors/xiaozhi/sockets.ts'
import { createTurnConfigStore } from '../features/agent/store.ts'
import { createApps } from '../features/apps/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import { createEmbeddings } from '../features/embeddings/service.ts'
import { createPersonas } from '../features/personas/service.ts'
import { createPersonaStore } from '../features/personas/store.ts'
import { createPrompts } from '../features/prompts/service.ts'
import { createPromptStore } from '../features/prompts/store.ts'
import { createSettings } from '../features/settings/service.ts'
import { createSettingsStore } from '../features/settings/store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { bearer, createCalls, gate } from '../http/gate.ts'
import type { Sse } from '../http/sse.ts'
import { createJobs, type Jobs, tenthOfTime } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import { openAgent } from './agent.ts'
import { openBackups } from './backups.ts'
import { openChat } from './chat.ts'
import { openConsole } from './console.ts'
import { openDevices, openXiaozhi } from './devices.ts'
import { openFiles } from './files.ts'
import { openHttp, type ServerLimits } from './http.ts'
import { type Knowledge, openKnowledge } from './knowledge.ts'
import { openMcp, openMcpServers } from './mcp.ts'
import { openSite } from './monitoring.ts'
import { openOllama } from './ollama.ts'
import { openProvider } from './provider.ts'
import {
  openAudit,
  openKeys,
  openRecords,
  openRemoval,
  openShares,
  openTransfer,
} from './services.ts'
import { openDetached, openSessions } from './sessions.ts'
import { openSources } from './sources.ts'
import { openSystem } from './system.ts'
import { openVoice } from './voice.ts'
import { openWyoming } from './wyoming.ts'

/** Each prune also checks the clock: soon after the clock was set, nothing is deleted. */
const PRUNE_EVERY_MS = 10 * MINUTE_MS
const ERASE_EVERY_MS = MINUTE_MS / 3

/** Creates all parts, each after those it depends on; nothing listens yet. */
export function compose(adapters: Adapters, limits: ServerLimits = {}) {
  const { config, clock, log, db, speech } = adapters
  const jobs = createJobs({ clock, log })
  const http = openHttp(adapters, limits)
  const { budget, contexts, sse, answers, uploads, personLimit, studioLimit } = http
  const { logs, usage, budgets, buffers } = openRecords(adapters)
  const { record } = logs

  const tenants = createTenants({ store: createTenantStore(db), clock })
  const { service: keys, openTurns, sockets } = openKeys(adapters, { usage, tenants })
  const audit = openAudit(adapters)
  const { auditCode } = audit
  const kb = openKnowledge(adapters)
  const sources = openSources(adapters, { kb, jobs })
  const files = openFiles(adapters, { kb, sources, jobs })
  const mcpServers = openMcpServers(adapters, jobs)
  const apps = createApps({ store: createAppStore(db), keys, clock })
  const personas = createPersonas({ store: createPersonaStore(db), clock })
  const settings = createSettings({ store: createSettingsStore(db), tenants })
  const prompts = createPrompts({ store: createPromptStore(db), clock })
  const shares = openShares(adapters, { apps, keys, budgets })
  const transfer = openTransfer(adapters, {
    personas,
    apps,
    settings,
    prompts,
    mcpServers: mcpServers.service,
    kb,
    sources,
    jobs,
  })
  const devices = openDevices(adapters, { keys, auditCode })
  const provider = openProvider(adapters)
  const sessions = openSessions(adapters, { jobs, budget })
  const configs = createTurnConfigStore(db)
  const agent = openAgent(adapters, {
    keys,
    openTurns,
    usage,
    budgets,
    devices: devices.service,
    kb,
    files,
    mcpServers,
    provider,
    sessions,
    configs,
    budget,
  })
  const detached = openDetached(adapters, { agent, sessions, jobs })
  const voice = openVoice({ speech, agent, clock, log, contexts, record, openTurns })
  const removal = openRemoval(adapters, { kb, sources, jobs })
  const people = openConsole(adapters, {
    tenants,
    keys,
    auditCode,
    jobs,
    talks: sessions.talks,
    removal,
    contexts,
    uploads,
    personLimit,
  })
  const { origins } = people.login
  const system = openSystem(adapters, { jobs, tenants, kb })
  const backups = openBackups(adapters, jobs)
  const site = openSite(adapters, { sse, backups, sources, files })

  const call = createCalls({
    limiter: http.limiter,
    checkBudget: budgets.check,
    onAdmitted: usage.countCall,
  })
  const chat = openChat(adapters, {
    apps,
    agent,
    files,
    sources,
    answers,
    sse,
    contexts,
    origins,
  })
  const mcp = openMcp(adapters, { kb: kb.service, agent, configs, sse, contexts, origins })
  const xiaozhi = openXiaozhi(adapters, {
    devices,
    voice: voice.voice,
    agent,
    budget,
    sockets,
    keys,
    call,
    contexts,
    origins,
    record,
  })
  const wyoming = openWyoming(adapters, {
    keys,
    call,
    agent,
    openTurns,
    voice: voice.voice,
    record,
  })

  const ollama = openOllama(adapters, keys)
  const { standIn } = ollama
  const app = createApp({
    services: {
      agent,
      answers,
      apps,
      audit,
      branches: sessions.branches,
      conversations: sessions.conversations,
      detached,
      devices: devices.service,
      exportSession: sessions.exportSession,
      files: files.service,
      prompts,
      embeddings: createEmbeddings(adapters.embedding),
      kb: kb.service,
      keys,
      logs,
      mcpServers: mcpServers.service,
      members: people.members,
      modelLists: provider.modelLists,
      openTurns,
      pairing: devices.pairing,
      people: people.people,
      personas,
      provider: provider.service,
      sessions: sessions.service,
      settings,
      shares,
      sources: sources.service,
      studioLimit,
      system,
      transcripts: sessions.transcripts,
      transfer,
      usage,
      voice,
    },
    machineGate: gate('machine', bearer({ call, contexts, keys, standIn }), uploads),
    consoleGate: people.gate,
    auth: people.login,
    deviceEndpoints: devices.endpoints,
    chat,
    ollama,
    mcp,
    xiaozhi,
    status: site.status,
    takesWrites: site.takesWrites,
    metrics: adapters.metrics,
    pages: adapters.pages,
    contexts,
    memory: http.memory,
    studioLimit,
    sse,
    clock,
    log,
    tls: config.MB_TLS_CERT !== undefined,
    verbose: config.MB_LOG_LEVEL === 'debug',
    record,
  })

  const lived = [shares, chat.keptItems, detached, files.service, people.sessions, removal]
  const kept = [logs, usage, audit.audit, ...lived]
  const prune = schedule(adapters, { jobs, kept, kb, mcpServers })
  const { rows, sums } = buffers
  const { lastSeen } = devices
  const { citations } = kb
  // Parts that still write are closed before the parts that they write to.
  const { parser, jsonParser, vad, reader, scans, live, modelPack, shared } = adapters
  const processes = [parser, jsonParser, ...(vad ? [vad] : [])]
  const writers = [detached, jobs, ...processes, rows, sums, lastSeen, citations]
  const closing = [...writers, reader, scans, live, modelPack, shared, db]
  return {
    app,
    wyoming,
    ollama,
    sse: closedWith(sse, sockets),
    budget,
    jobs,
    keys,
    kb,
    buffers: { rows, sums, lastSeen, citations },
    prune,
    sources,
    servers: mcpServers,
    close: () => closeAll(log, closing),
  }
}

/** Streams and sockets end together when the server stops. */
const closedWith = ({ open, close }: Sse, sockets: Sockets) => ({
  open,
  close() {
    close()
    sockets.close()
  },
})

interface ScheduleNeeds {
  readonly jobs: Jobs
  readonly kept: readonly { readonly prune: () => Promise<void> }[]
  readonly kb: Knowledge
  readonly mcpServers: ReturnType<typeof openMcpServers>
}

/** The one list of jobs that run at intervals. Returns the job that deletes old records. */
function schedule(
  { platform, log, db, clock }: Adapters,
  { jobs, kept, kb, mcpServers }: ScheduleNeeds,
): () => Promise<void> {
  const prune = async () => {
    for (const records of kept) await records.prune()
  }
  const erase = tenthOfTime(clock, async (signal) => db.erase?.(signal))
  jobs.every('erase deleted data', ERASE_EVERY_MS, erase)
  jobs.every('prune logs', PRUNE_EVERY_MS, prune)
  jobs.every('list mcp tools', MINUTE_MS, mcpServers.retryDue)
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
