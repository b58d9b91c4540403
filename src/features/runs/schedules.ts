import { DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { SCHEDULES_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import {
  ImportedSchedule,
  type PreviewRequest,
  type Run,
  type Schedule,
  type ScheduleRequest,
} from './model.ts'
import type { SessionOf } from './parts.ts'
import type { RunStore } from './run-store.ts'
import { shownRun } from './runs.ts'
import { type ChecksOptions, createRows } from './schedule-checks.ts'
import { importedRow, type Maker, runOf, shown } from './schedule-rows.ts'
import type { ScheduleStore, ShownSchedule } from './schedule-store.ts'
import { timesAfter } from './times.ts'
import { createTimes, SHOWN_TIMES } from './timing.ts'
import { queueRun } from './waiting.ts'

export interface SchedulesOptions extends ChecksOptions {
  readonly store: ScheduleStore
  readonly runs: Pick<RunStore, 'insert' | 'find'>
  readonly sessionOf: SessionOf
  /** Called when a run may be due. */
  readonly wake: () => void
}

const missing = () => appError('not_found', { what: 'schedule' })
const full = () => appError('quota_schedules', { what: 'schedule', max: SCHEDULES_MAX })

const filterOf = ({ kind, appId, userId }: Principal) => ({
  appId: kind === 'app' ? appId : null,
  userId,
})

/** The tenant's schedules, and the reminders of its people and devices. */
export function createSchedules(options: SchedulesOptions) {
  const { store, runs, clock, wake } = options
  const timesOf = createTimes(options)
  const rowOf = createRows(options)

  async function row(principal: Principal, id: string): Promise<ShownSchedule> {
    await store.sweepOrphans(principal.tenantId)
    const found = await store.find(principal.tenantId, filterOf(principal), id)
    if (!found) throw missing()
    return found
  }

  const shownNow = async (principal: Principal, id: string) => shown(await row(principal, id))

  return {
    async list(principal: Principal, before: string | null, limit: number) {
      await store.sweepOrphans(principal.tenantId)
      const rows = await store.list(principal.tenantId, filterOf(principal), before, limit + 1)
      const schedules = rows.slice(0, limit).map(shown)
      const next_before = rows.length > limit ? (schedules.at(-1)?.id ?? null) : null
      return { schedules, next_before }
    },

    read: shownNow,

    /** Throws `name_taken` and `quota_schedules`. */
    async create(principal: Principal, request: ScheduleRequest): Promise<Schedule> {
      const { tenantId } = principal
      const added = await rowOf(principal, request, null)
      if (!(await store.insert(added, SCHEDULES_MAX))) {
        if (await store.named(tenantId, request.name)) {
          throw appError('name_taken', { name: request.name })
        }
        throw full()
      }
      wake()
      return shownNow(principal, added.id)
    },

    /** Throws `name_taken`. */
    async replace(principal: Principal, id: string, request: ScheduleRequest): Promise<Schedule> {
      const was = await row(principal, id)
      if (!(await store.replace(await rowOf(principal, request, was)))) {
        await row(principal, id)
        throw appError('name_taken', { name: request.name })
      }
      wake()
      return shownNow(principal, id)
    },

    async remove(principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
      const { kind } = await row(principal, id)
      if (kind === 'schedule' && principal.role === 'viewer') throw appError('forbidden_role')
      if (!(await store.remove(principal.tenantId, id, clock.now()))) throw missing()
      return { id, deleted: true }
    },

    /** Runs it now. Throws `quota_schedules` and `runs_too_large` for runs that wait. */
    async run(principal: Principal, id: string): Promise<Run> {
      const found = await row(principal, id)
      const { tenantId } = principal
      const now = clock.now()
      const session = await options.sessionOf(found, now)
      const run = runOf(found, { due: now, fire: null, late: false, now, session })
      await queueRun(runs, run)
      const stored = await runs.find(tenantId, run.id)
      wake()
      if (!stored) throw missing()
      return shownRun(stored)
    },

    async preview(principal: Principal, request: PreviewRequest): Promise<{ next: string[] }> {
      const times = await timesOf(principal.tenantId, request)
      const from = request.from ?? clock.now()
      const next = times.cron === null ? [times.at ?? 0] : timesAfter(times, from, SHOWN_TIMES)
      return { next: next.map((time) => new Date(time).toISOString()) }
    },

    /** All of the tenant that are no reminders, newest first. */
    async all(tenantId: string): Promise<Schedule[]> {
      return (await store.all(tenantId)).map(shown)
    },

    /** Adds a schedule of `by` that is switched off, or puts it in place of another one. */
    async import(
      by: Maker,
      id: string | null,
      item: Omit<ImportedSchedule, 'app_ref'> & { readonly app_id: string | null },
    ): Promise<void> {
      const row = importedRow(by, id, item, { serverZone: options.serverZone(), clock })
      if (id !== null) await store.replace(row)
      else if (!(await store.insert(row, SCHEDULES_MAX))) throw full()
    },

    /** Deletes reminders that were given and are a day old. */
    prune: () => store.prune(new Date(clock.now() - DAY_MS).toISOString()),

    /** Validates a schedule of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): ImportedSchedule => checked(ImportedSchedule, item),
  }
}

export type Schedules = ReturnType<typeof createSchedules>
