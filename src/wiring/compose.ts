import { createApp, DOOR_ROUTES } from '../app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'
import type { Sockets } from '../doors/xiaozhi/sockets.ts'
import { createTurnConfigStore } from '../features/agent/store.ts'
import { createTurnCounts } from '../features/agent/turn-counts.ts'
import { createApps } from '../features/apps/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import { createEmbeddings } from '../features/embeddings/service.ts'
import { forgetApp } from '../features/memories/store.ts'
import { createSuggest } from '../features/memories/suggest.ts'
import { createPersonas } from '../features/personas/service.ts'
import { createPersonaStore } from '../features/personas/store.ts'
import { createPrompts } from '../features/prompts/service.ts'
import { createPromptStore } from '../features/prompts/store.ts'
import { createSettings } from '../features/settings/service.ts'
import { createSettingsStore } from '../features/settings/store.ts'
import { createTenantLimitStore } from '../features/tenants/limits-store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { createAdmission } from '../features/usage/admission.ts'
import { bearer, createCalls, gate } from '../http/gate.ts'
import { createListener } from '../http/listener.ts'
import type { Sse } from '../http/sse.ts'
import { createPrune } from '../jobs/prune.ts'
import { createJobs, type Jobs, tenthOfTime } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import { openAgent } from './agent.ts'
import { openAsks } from './asks.ts'
import { openBackups } from './backups.ts'
import { openChat } from './chat.ts'
import { openConsole } from './console.ts'
import { openDevices, openXiaozhi } from './devices.ts'
import { openFiles } from './files.ts'
import { openHttp, type ServerLimits } from './http.ts'
import { type Knowledge, openKnowledge } from './knowledge.ts'
import { openMcp, openMcpServers } from './mcp.ts'
import { openMemories } from './memories.ts'
import { openSite } from './monitoring.ts'
import { openOllama } from './ollama.ts'
import { openOverview } from './overview.ts'
import { openProvider } from './provider.ts'
import { openReminders, openRuns } from './runs.ts'
import { openScans } from './scans.ts'
import {
  openAudit,
  openFeedback,
  openKeys,
  openRecords,
  openRemoval,
  openShares,
  openTenantLimits,
  openTransfer,
} from './services.ts'
import { openDetached, openSessions } from './sessions.ts'
import { openSources } from './sources.ts'
import { openSystem } from './system.ts'
import { openVoice } from './voice.ts'
import { openTriggers, openWebhooks } from './webhooks.ts'
import { openWyoming } from './wyoming.ts'

const PRUNE_EVERY_MS = 10 * MINUTE_MS
const ERASE_EVERY_MS = MINUTE_MS / 3

/** Creates all parts, each after those it depends on; nothing listens yet. */
export function compose(adapters: Adapters, limits: ServerLimits = {}) {
  const { config, clock, log, db, speech } = adapters
  const jobs = createJobs({ clock, log })
  const http = openHttp(adapters, limits)
  const { budget, contexts, sse, answers, uploads, personLimit, studioLimit } = http
  const tenants = createTenants({ store: createTenantStore(db), clock })
  const settings = createSettings({ store: createSettingsStore(db), tenants })
  const webhooks = openWebhooks(adapters, { settings, jobs })
  const { outbox } = webhooks
  const { logs, usage, budgets, buffers } = openRecords(adapters, webhooks.onSpent)
  const { record } = logs

  const { service: keys, openTurns, sockets } = openKeys(adapters, { usage, tenants })
  const audit = openAudit(adapters)
  const { auditCode } = audit
  const kb = openKnowledge(adapters, jobs)
  const admission = createAdmission({ keys, budgets, limitsOf: createTenantLimitStore(db).of })
  const provider = openProvider(adapters)
  const ocr = openScans(adapters, { settings, provider, usage, admission })
  const sources = openSources(adapters, { kb, scans: ocr, jobs, outbox })
  const files = openFiles(adapters, kb, sources, jobs)
  const mcpServers = openMcpServers(adapters, jobs, tenants, outbox)
  const forgetsApp = (tenantId: string, appId: string) => [forgetApp(tenantId, appId)]
  const apps = createApps({ store: createAppStore(db), keys, removal: forgetsApp, clock })
  const memories = openMemories(adapters, apps, jobs)
  const personas = createPersonas({ store: createPersonaStore(db), clock })
  const prompts = createPrompts({ store: createPromptStore(db), clock })
  const shares = openShares(adapters, { apps, keys, budgets })
  const devices = openDevices(adapters, keys, auditCode)
  const sessions = openSessions(adapters, jobs, openTurns, budget)
  const feedback = openFeedback(adapters, sessions, outbox)
  const configs = createTurnConfigStore(db)
  const asks = openAsks(adapters)
  const turnCounts = createTurnCounts(clock)
  const agent = openAgent(adapters, {
    turnCounts,
    openTurns,
    usage,
    admission,
    devices: devices.service,
    asks,
    kb,
    files,
    mcpServers,
    provider,
    sessions,
    reminders: openReminders(adapters, settings),
    memories,
    configs,
    budget,
  })
  const runs = openRuns(adapters, {
    agent,
    openTurns,
    sessions,
    settings,
    tenants,
    usage,
    mcpServers,
    notices: devices.notices,
    webhooks,
    record,
    jobs,
  })
  const transfer = openTransfer(adapters, {
    personas,
    apps,
    settings,
    prompts,
    schedules: runs.schedules,
    webhooks: webhooks.service,
    mcpServers: mcpServers.service,
    kb,
    sources,
    jobs,
  })
  const detached = openDetached(adapters, agent, sessions, files.inTurns, jobs)
  const startRun = runs.runs.trigger
  const { ownerOf } = sessions.talks
  const triggers = openTriggers(adapters, { webhooks, keys, tenants, ownerOf, startRun })
  const voice = openVoice({ speech, agent, admission, clock, log, contexts, record, openTurns })
  const removal = openRemoval(adapters, { kb, sources, jobs })
  const people = openConsole(adapters, {
    tenants,
    usage,
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
  const backups = openBackups(adapters, jobs)
  const host = () => adapters.live.config().MB_HOST
  const listener = createListener({ own: config.MB_HOST, host, log })
  const site = openSite(adapters, {
    sse,
    backups,
    turnCounts,
    sources,
    files,
    schedules: runs,
    memories,
  })
  const { status } = site
  const overview = openOverview(adapters, { budget, turnCounts, usage, status, backups })
  const needs = { jobs, tenants, kb, backups, listener, overview }
  const system = openSystem(adapters, needs)

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
    jobs,
  })
  const mcp = openMcp(adapters, { kb, agent, configs, sse, contexts, origins })
  const xiaozhi = openXiaozhi(adapters, {
    devices,
    voice: voice.voice,
    agent,
    budget,
    sockets,
    jobs,
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
  const ollama = openOllama(adapters, { keys, configs, modelLists: provider.modelLists })
  const { standIn } = ollama
  const app = createApp({
    services: {
      agent,
      access: kb.access,
      answers,
      apps,
      asks,
      audit,
      branches: sessions.branches,
      citations: { citations: sessions.citations, checkDoc: kb.service.exists },
      collections: sources.collections,
      conversations: sessions.conversations,
      detached,
      devices: devices.service,
      exportSession: sessions.exportSession,
      files: files.service,
      prompts,
      memories: memories.service,
      suggest: createSuggest({ agent, recall: sessions.memory.recall }),
      sse,
      embeddings: createEmbeddings(adapters.embedding),
      kb: kb.service,
      keys,
      library: kb.library,
      logs,
      mcpServers: mcpServers.service,
      members: people.members,
      modelLists: provider.modelLists,
      openTurns,
      pairing: devices.pairing,
      people: people.people,
      pictures: sessions.pictures,
      personas,
      provider: provider.service,
      sessions: sessions.service,
      settings,
      runs: runs.runs,
      schedules: runs.schedules,
      notices: devices.notices,
      shares,
      origins,
      feedback,
      sources: sources.service,
      studioLimit,
      system,
      tenantLimits: openTenantLimits(adapters, usage),
      transcripts: sessions.transcripts,
      transfer,
      triggers: triggers.service,
      usage,
      voice,
      webhooks: webhooks.service,
    },
    machineGate: gate(
      'machine',
      bearer({ call, contexts, keys, standIn, doors: DOOR_ROUTES }),
      uploads,
    ),
    consoleGate: people.gate,
    auth: people.login,
    deviceEndpoints: devices.endpoints,
    hooks: triggers.hooks,
    chat,
    ollama,
    mcp,
    xiaozhi,
    status,
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

  const prune = createPrune({
    clock,
    log,
    byAge: {
      'request log': logs.prune,
      usage: usage.prune,
      audit: audit.audit.prune,
      asks: asks.prune,
      shares: shares.prune,
      'response items': chat.keptItems.prune,
      'detached turns': detached.prune,
      files: files.service.prune,
      'failed sources': sources.prune,
      logins: people.prune,
      runs: runs.prune,
      notices: devices.notices.prune,
      citations: kb.pruneCitations,
      'empty tenants': removal.prune,
    },
    unused: {
      'files without an app': files.service.sweep,
      'what talks leave behind': sessions.prune,
      'tenants without a member': removal.run,
    },
  })
  schedule(adapters, { jobs, prune, kb, mcpServers, runs })
  const { rows, sums } = buffers
  const { lastSeen } = devices
  // Parts that still write are closed before the parts that they write to.
  const { parser, jsonParser, vad, reader, scans, live, modelPack, shared } = adapters
  const processes = [parser, jsonParser, ...(vad ? [vad] : [])]
  const writers = [detached, jobs, ...processes, rows, sums, lastSeen, kb.citations]
  const closing = [...writers, reader, scans, live, modelPack, shared, db]
  return {
    app,
    listener,
    wyoming,
    ollama,
    sse: closedWith(sse, sockets),
    budget,
    jobs,
    keys,
    kb,
    buffers: { rows, sums, lastSeen, citations: kb.citations },
    prune,
    runs: { tick: runs.tick, deliver: xiaozhi.deliver, openTurns: openTurns.count },
    sources,
    servers: mcpServers,
    webhooks,
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
  readonly prune: () => Promise<void>
  readonly kb: Knowledge
  readonly mcpServers: ReturnType<typeof openMcpServers>
  readonly runs: ReturnType<typeof openRuns>
}

/** The one list of jobs that run at intervals. */
function schedule(
  { platform, log, db, clock }: Adapters,
  { jobs, prune, kb, mcpServers, runs }: ScheduleNeeds,
): void {
  const erase = tenthOfTime(clock, async (signal) => db.erase?.(signal))
  jobs.every('erase deleted data', ERASE_EVERY_MS, erase)
  jobs.every('prune logs', PRUNE_EVERY_MS, prune)
  runs.open()
  jobs.every('list mcp tools', MINUTE_MS, mcpServers.retryDue)
  kb.reindex()
  jobs.every('embed anew', MINUTE_MS, kb.reembed.run)
  jobs.every('look for a model server', platform.lookAgainMs, async () => {
    if (await platform.lookAgain())
      log.info('model found', { channel: platform.channel.current.description })
  })
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
