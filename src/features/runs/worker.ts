import { DAY_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import type { Jobs } from '../../jobs/runner.ts'
import { createFiring } from './fire.ts'
import type { RunRow } from './run-store.ts'
import { createWork, type WorkParts } from './work.ts'

/** How often is looked for what is due. */
const LOOK_MS = 1_000
const LEASE_MS = 60_000
const RENEW_MS = 15_000
const RUNS_PER_TENANT = 2
const RUNS_PER_SERVER = 8
/** A run waits for this long while people of its tenant are answered. */
const PEOPLE_FIRST_MS = 3_000
const SWEEP_MS = 60_000

export interface WorkerParts extends WorkParts {
  readonly jobs: Jobs
  /** No other server runs anything. */
  readonly isAlone: boolean
  /** Turns of the tenant that are open at this server, those of runs among them. */
  readonly openTurns: (tenantId: string) => number
}

interface Running {
  readonly row: RunRow
  readonly stop: AbortController
}

/** Begins what is due, as long as the server runs. */
export function createRunWorker(parts: WorkerParts) {
  const { queue, schedules, jobs, clock } = parts
  const holder = newId()
  const { work, abandon } = createWork(parts, holder)
  const running = new Map<string, Running>()
  /** Tenants by the last start of a run of theirs, the longest ago first. */
  const started = new Set<string>()
  let isRecovered = false
  let looking: Promise<void> | null = null
  let isAskedAgain = false

  function start(row: RunRow): void {
    const stop = new AbortController()
    running.set(row.id, { row, stop })
    started.delete(row.tenant_id)
    started.add(row.tenant_id)
    jobs.run('run', async (stopping) => {
      try {
        await work(row, AbortSignal.any([stopping, stop.signal]))
      } finally {
        running.delete(row.id)
        wake()
      }
    })
  }

  async function recover(): Promise<void> {
    const all = parts.isAlone && !isRecovered
    const rows = await queue.abandoned(clock.now(), all)
    for (const row of rows) if (!running.has(row.id)) await abandon(row, row.holder, 0)
    isRecovered = true
  }

  const fireDue = createFiring(parts)

  const busy = (tenantId: string) =>
    parts.openTurns(tenantId) > [...running.values()].filter((r) => ofTenant(r, tenantId)).length

  /** Tenants take turns: the one that has waited longest for a start is first. */
  async function startDue(): Promise<void> {
    if (running.size >= RUNS_PER_SERVER) return
    const now = clock.now()
    const due = await queue.due(now, RUNS_PER_TENANT)
    const rows = due.filter(({ closed }) => closed !== 1)
    if (rows.length < due.length) await queue.missClosed(now)
    const places = new Map([...started].map((tenantId, index) => [tenantId, index]))
    const place = (row: RunRow) => places.get(row.tenant_id) ?? -1
    rows.sort((a, b) => a.running - b.running || place(a) - place(b) || a.due_at - b.due_at)
    for (const row of rows) {
      if (running.size >= RUNS_PER_SERVER) return
      // One that was given back may still be ending here.
      if (row.running >= RUNS_PER_TENANT || running.has(row.id)) continue
      if (now - row.due_at < PEOPLE_FIRST_MS && busy(row.tenant_id)) continue
      const until = clock.now() + LEASE_MS
      if (await queue.claim(row, holder, clock.now(), until, RUNS_PER_TENANT)) start(row)
    }
  }

  async function look(): Promise<void> {
    await recover()
    await fireDue()
    await startDue()
  }

  /** Looks for what is due, one look at a time. */
  function tick(): Promise<void> {
    isAskedAgain = true
    looking ??= (async () => {
      try {
        while (isAskedAgain) {
          isAskedAgain = false
          await look()
        }
      } finally {
        looking = null
      }
    })()
    return looking
  }

  async function renew(): Promise<void> {
    const ids = [...running.keys()]
    const kept = await queue.renew(ids, holder, clock.now() + LEASE_MS)
    for (const id of ids) {
      if (!kept.has(id)) running.get(id)?.stop.abort(new Error('another server does this now'))
    }
  }

  const wake = () => jobs.run('start runs', tick)

  return {
    wake,
    tick,

    /** Ends a run that this server does. */
    stop(id: string): void {
      running.get(id)?.stop.abort(new Error('the run was canceled'))
    },

    /** From now on what is due begins. */
    open(): void {
      wake()
      jobs.every('start runs', LOOK_MS, tick)
      jobs.every('renew runs', RENEW_MS, renew)
      jobs.every('sweep reminders', SWEEP_MS, () =>
        schedules.sweep(new Date(clock.now() - DAY_MS).toISOString()),
      )
    },
  }
}

export type RunWorker = ReturnType<typeof createRunWorker>

const ofTenant = ({ row }: Running, tenantId: string) => row.tenant_id === tenantId
