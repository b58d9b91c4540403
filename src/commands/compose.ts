import { createApp } from '../app.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createAgent } from '../features/agent/service.ts'
import { createTurnContextStore } from '../features/agent/store.ts'
import { createToolRegistry } from '../features/agent/tools/registry.ts'
import type { Tool } from '../features/agent/tools/tool.ts'
import { createKeys } from '../features/keys/service.ts'
import { createKeyStore } from '../features/keys/store.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type LogRow } from '../features/logs/store.ts'
import { cacheSessions } from '../features/sessions/cache.ts'
import { createMemory } from '../features/sessions/memory.ts'
import { createSessions } from '../features/sessions/service.ts'
import { createSessionStore } from '../features/sessions/store.ts'
import { createUsageStore, type UsageEvent } from '../features/usage/store.ts'
import { bearer } from '../http/bearer.ts'
import { createFacts } from '../http/facts.ts'
import { gate } from '../http/gate.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { createSse } from '../http/sse.ts'
import { createBuffer } from '../jobs/buffer.ts'
import { createJobs } from '../jobs/runner.ts'
import type { Db } from '../storage/db.ts'
import { openConsole } from './console.ts'
import type { Knowledge } from './knowledge.ts'
import type { Platform } from './platform.ts'
import type { Secrets } from './secrets.ts'
import type { Speech } from './speech.ts'
import { composeVoice } from './voice.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** The parts that reach outside the program, opened by the caller. */
export interface Adapters {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly secrets: Secrets
  readonly db: Db
  readonly platform: Platform
  readonly kb: Knowledge
  readonly tools: readonly Tool[]
  readonly speech: Speech
  readonly fetch: typeof fetch
  /** Shows a login code on the server's own terminal. */
  readonly printCode: (email: string, code: string) => void
}

/** Wires every part to every other, in the order of their dependencies; nothing listens yet. */
export function compose(adapters: Adapters) {
  const { config, clock, log, secrets, db, platform, kb, tools, speech } = adapters
  const jobs = createJobs({ clock, log })
  const onError = (error: unknown) => log.error('stream failed', errorFields(error))
  const sse = createSse({ clock, streamsMax: config.MB_MAX_STREAMS, onError })
  const facts = createFacts(() => clock.now())
  const limiter = createRateLimiter(clock)
  const buffers = openBuffers(db, clock, log)

  const keys = createKeys({ store: createKeyStore(db), clock })
  const sessionStore = cacheSessions(createSessionStore(db))
  const sessions = createSessions({ store: sessionStore })
  const memory = createMemory({ store: sessionStore, log })
  const logs = createLogs({ store: createLogStore(db), clock, buffer: buffers.logs })
  const agent = createAgent({
    clock,
    log,
    jobs,
    contexts: createTurnContextStore(db),
    memory,
    channelOf: async () => ({ label: 'platform', llm: platform.get().llm, fallback: null }),
    retrieve: kb.service.retrieve,
    tools: createToolRegistry(tools),
  })

  const record = (request: LoggedRequest) => logs.record(logRow(request, clock.now()))
  const voice = composeVoice({ speech, agent, clock, log, facts, record })

  const machineGate = gate(
    'machine',
    bearer({
      facts,
      limiter,
      findKey: keys.find,
      onAdmitted: ({ tenantId, appId }) =>
        buffers.usage.add({ tenantId, appId, day: Math.floor(clock.now() / DAY_MS) }),
    }),
  )
  const people = openConsole({ ...adapters, jobs, facts, keys, secret: secrets.session })
  const app = createApp({
    services: { agent, sessions, kb: kb.service, voice },
    machineGate,
    consoleGate: people.gate,
    auth: people.login,
    facts,
    sse,
    log,
    now: () => clock.now(),
    record,
  })

  jobs.run('prune logs', logs.prune)
  jobs.every('prune logs', HOUR_MS, logs.prune)
  jobs.run('embed anew', kb.reembed.run)
  jobs.every('embed anew', MINUTE_MS, kb.reembed.run)
  jobs.every('look for a model server', platform.lookAgainMs, async () => {
    if (await platform.lookAgain()) log.info('model found', { channel: platform.get().description })
  })
  return { app, sse, jobs, buffers, logs, people }
}

function openBuffers(db: Db, clock: Clock, log: Logger) {
  const { write: writeLogs } = createLogStore(db)
  const { write: writeUsage } = createUsageStore(db)
  return {
    logs: createBuffer<LogRow>({ clock, log, name: 'request log', write: writeLogs }),
    usage: createBuffer<UsageEvent>({ clock, log, name: 'usage', write: writeUsage }),
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
