import { MINUTE_MS } from '../core/clock.ts'
import { CLASSES, ERRORS } from '../core/error-table.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import type { Agent } from '../features/agent/service.ts'
import { createAppStore } from '../features/apps/store.ts'
import type { Logs } from '../features/logs/service.ts'
import type { Notices } from '../features/runs/notices.ts'
import { createSessionNames } from '../features/runs/parts.ts'
import { createRunQueue } from '../features/runs/queue-store.ts'
import { createReminderStore } from '../features/runs/reminder-store.ts'
import { createReminderTools } from '../features/runs/reminder-tools.ts'
import type { Outcome } from '../features/runs/run.ts'
import { createRunStore, type RunRow } from '../features/runs/run-store.ts'
import { createRuns } from '../features/runs/runs.ts'
import { createScheduleStore } from '../features/runs/schedule-store.ts'
import { createSchedules } from '../features/runs/schedules.ts'
import { createTimes } from '../features/runs/timing.ts'
import { createRunWorker } from '../features/runs/worker.ts'
import type { Settings } from '../features/settings/service.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Usage } from '../features/usage/service.ts'
import type { Jobs } from '../jobs/runner.ts'
import { durationMs } from '../setting-values.ts'
import type { Statement } from '../storage/db.ts'
import type { Fence } from '../storage/shared-state.ts'
import type { Adapters } from './adapters.ts'
import type { openMcpServers } from './mcp.ts'
import type { openSessions } from './sessions.ts'
import type { OpenedWebhooks } from './webhooks.ts'

/**
 * The zone of the machine, where a tenant has chosen none. Asked for when it is needed: the first
 * question loads the data of time zones, which takes 10 ms and 4 MB.
 */
const serverZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

const timesNeeds = ({ clock, config }: Adapters, settings: Pick<Settings, 'get'>) => ({
  zoneOf: async (tenantId: string) => (await settings.get(tenantId)).time_zone ?? null,
  serverZone,
  leastMs: durationMs(config.MB_SCHEDULE_MIN),
  clock,
})

/** Wires the tools of reminders, which turns offer. */
export function openReminders(adapters: Adapters, settings: Pick<Settings, 'get'>) {
  const { db, clock } = adapters
  const store = createReminderStore(db)
  const timesOf = createTimes(timesNeeds(adapters, settings))
  return {
    tools: createReminderTools({ store, timesOf, clock }),
    async keep(fence: Fence, writes: readonly Statement[]) {
      if (writes.length > 0) await db.batch([...fence, ...writes])
    },
  }
}

interface RunNeeds {
  readonly agent: Agent
  readonly openTurns: OpenTurns
  readonly sessions: ReturnType<typeof openSessions>
  readonly settings: Settings
  readonly tenants: Tenants
  readonly usage: Usage
  readonly mcpServers: ReturnType<typeof openMcpServers>
  readonly notices: Notices
  readonly webhooks: OpenedWebhooks
  readonly record: Logs['record']
  readonly jobs: Jobs
}

/** Wires runs, schedules and notices. */
export function openRuns(adapters: Adapters, needs: RunNeeds) {
  const { db, clock, log, shared, metrics } = adapters
  const { agent, openTurns, sessions, settings, tenants, usage, mcpServers, record, jobs } = needs
  const store = createScheduleStore(db)
  const runStore = createRunStore(db)
  const { outbox } = needs.webhooks
  const hasApp = createAppStore(db).has
  const hasWebhooks = needs.webhooks.service.has
  const sessionOf = createSessionNames(sessions.talks.ownerOf)
  const worker = createRunWorker({
    queue: createRunQueue(db),
    hasApp,
    schedules: store,
    sessionOf,
    agent,
    memory: sessions.memory,
    turnOrder: shared.turnOrder,
    tenants,
    usage,
    clock,
    log,
    entitle: sessions.entitle,
    jobs,
    isAlone: shared.isAlone,
    openTurns: openTurns.count,
    outbox,
    onEnded(run, outcome, ms) {
      metrics.meters.runEnded(outcome.end.status)
      record(rowOf(run, outcome, clock.now(), ms))(null, Math.round(ms))
    },
  })
  shared.announcer.on('run canceled', async (id) => worker.stop(id))
  const runs = createRuns({
    store: runStore,
    hasApp,
    agent,
    sessions: sessions.service,
    owners: sessions.talks,
    turns: sessions.turns,
    clock,
    hasWebhooks,
    announcer: shared.announcer,
    stop: worker.stop,
    wake: worker.wake,
  })
  const times = timesNeeds(adapters, settings)
  const schedules = createSchedules({
    zoneOf: times.zoneOf,
    serverZone: times.serverZone,
    leastMs: times.leastMs,
    clock,
    store,
    runs: runStore,
    sessionOf,
    hasApp,
    hasWebhooks,
    hashesOf: mcpServers.hashesOf,
    wake: worker.wake,
  })
  let count = 0
  return {
    runs,
    schedules,
    /** Schedules that are switched on, as they were counted last. */
    count: () => count,
    /** Looks for what is due. */
    tick: worker.tick,
    /** Deletes runs that ended long ago, and reminders that were given. */
    async prune() {
      await runs.prune()
      await schedules.prune()
    },
    /** From now on what is due begins. */
    open() {
      worker.open()
      jobs.every('count schedules', MINUTE_MS, async () => {
        count = await store.count()
      })
    },
  }
}

/** The row of a run in the request log. */
function rowOf(run: RunRow, { end, channel }: Outcome, ts: number, ms: number) {
  const { tenant_id: tenantId, key_id: keyId, app_id: appId, user_id: userId } = run
  const { error_class: errorClass } = end
  const status = errorClass === null ? 200 : (ERRORS[errorClass as keyof typeof ERRORS]?.[0] ?? 500)
  const principal = {
    kind: keyId === null ? ('session' as const) : ('general' as const),
    tenantId,
    keyId,
    appId,
    deviceId: run.device_id,
    userId,
  }
  return {
    principal,
    ts,
    endpoint: '/v1/runs',
    status,
    latencyMs: Math.round(ms),
    sessionId: run.session_id,
    textChars: null,
    // The log has one word for each status; the run itself tells the code.
    errorClass: status === 200 ? null : CLASSES[status],
    channel,
  }
}
