import { type Clock, DAY_MS, MINUTE_MS } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { NotAsExpected, type Statement } from '../../storage/db.ts'
import type { SessionOf } from './parts.ts'
import { insertingMissed, insertingRun } from './run-store.ts'
import { runOf } from './schedule-rows.ts'
import type { ScheduleRow, ScheduleStore } from './schedule-store.ts'
import { missedTimes, timesAfter } from './times.ts'

/** A run that begins later than this after its time is late. */
const LATE_MS = 5_000
/** Times that are older than this are not made up for. */
const MISSED_MS_MAX = DAY_MS

/** Schedules that are read at a time. */
const AT_ONCE = 200
/** One that could not be fired is tried again after this time, and then every minute. */
const FIRST_AGAIN_MS = 10_000
const AGAIN_MS = MINUTE_MS

interface Failed {
  /** On the steady clock. */
  readonly until: number
}

export interface FireParts {
  readonly schedules: Pick<ScheduleStore, 'due' | 'fire'>
  readonly sessionOf: SessionOf
  readonly clock: Pick<Clock, 'now' | 'steady'>
  readonly log: Logger
}

/** Fires all schedules that are due. One that fails waits and holds up no other one. */
export function createFiring(parts: FireParts): () => Promise<void> {
  const { schedules, clock, log } = parts
  /** Schedules that failed and are still due. */
  let failed = new Map<string, Failed>()

  async function tried(schedule: ScheduleRow): Promise<Failed | null> {
    const { id } = schedule
    const before = failed.get(id)
    if (before && clock.steady() < before.until) return before
    try {
      await fire(parts, schedule)
      return null
    } catch (error) {
      if (error instanceof NotAsExpected) return null
      log.error('schedule not fired', { schedule: id, ...errorFields(error) })
      return { until: clock.steady() + (before ? AGAIN_MS : FIRST_AGAIN_MS) }
    }
  }

  return async function fireDue(): Promise<void> {
    const now = clock.now()
    const failing = new Map<string, Failed>()
    let last: ScheduleRow | undefined
    do {
      const rows = await schedules.due(now, last ?? null, AT_ONCE)
      for (const row of rows) {
        const failure = await tried(row)
        if (failure) failing.set(row.id, failure)
      }
      last = rows.length < AT_ONCE ? undefined : rows.at(-1)
    } while (last)
    failed = failing
  }
}

/** Adds the runs of a schedule that is due, and moves it on; once, whichever server does it. */
async function fire(
  { schedules, sessionOf, clock }: FireParts,
  schedule: ScheduleRow,
): Promise<void> {
  const now = clock.now()
  const { cron, at, time_zone: timeZone, next_at: first } = schedule
  if (first === null) return
  const times = { cron, at, timeZone }
  const { latest, earlier } = missedTimes(times, first, now)
  const next = timesAfter(times, now, 1)[0] ?? null
  const runAt = async (due: number, late: boolean) =>
    runOf(schedule, { due, fire: due, late, now, session: await sessionOf(schedule, due) })
  const runs: Statement[] = []
  if (now - latest > MISSED_MS_MAX) runs.push(insertingMissed(await runAt(latest, true)))
  else {
    if (earlier !== null) runs.push(insertingMissed(await runAt(earlier, true)))
    runs.push(...insertingRun(await runAt(latest, now - latest > LATE_MS)))
  }
  await schedules.fire(schedule, next, runs)
}
