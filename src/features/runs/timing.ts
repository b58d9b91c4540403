import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { PreviewRequest } from './model.ts'
import { closest, cronOf, type Times, timesAfter } from './times.ts'

/** A moment may be over by this much. */
const PAST_MS_MAX = MINUTE_MS
/** Times that a preview shows, and that must not be too close. */
export const SHOWN_TIMES = 10

export interface TimesOptions {
  readonly clock: Pick<Clock, 'now'>
  /** The tenant's time zone; null when it has chosen none. */
  readonly zoneOf: (tenantId: string) => Promise<string | null>
  readonly serverZone: () => string
  /** The shortest time between two runs. */
  readonly leastMs: number
}

/** What may be said of the times of a schedule. */
export function createTimes({ zoneOf, serverZone, leastMs, clock }: TimesOptions) {
  /** Throws `time_zone_unknown`, `schedule_cron`, `schedule_past` and `schedule_too_often`. */
  return async function timesOf(
    tenantId: string,
    asked: Pick<PreviewRequest, 'cron' | 'at' | 'time_zone'>,
    known: number | null = null,
  ): Promise<Times> {
    const timeZone = asked.time_zone ?? (await zoneOf(tenantId)) ?? serverZone()
    if (!isTimeZone(timeZone)) throw appError('time_zone_unknown')
    if (asked.cron === null && asked.at === null) {
      throw appError('field_required', { field: 'cron', kind: 'string' })
    }
    if (asked.cron !== null && asked.at !== null) throw appError('field_invalid', { field: 'at' })
    if (asked.cron === null) {
      const isKnown = asked.at === known
      if (!isKnown && (asked.at ?? 0) < clock.now() - PAST_MS_MAX) throw appError('schedule_past')
      return { cron: null, at: asked.at, timeZone }
    }
    const cron = cronOf(asked.cron)
    if (cron === null) throw appError('schedule_cron')
    const times = { cron, at: null, timeZone }
    const next = timesAfter(times, clock.now(), SHOWN_TIMES)
    if (next.length === 0) throw appError('schedule_cron')
    if (closest(next) < leastMs) {
      throw appError('schedule_too_often', { minutes: Math.ceil(leastMs / MINUTE_MS) })
    }
    return times
  }
}
export type TimesOf = ReturnType<typeof createTimes>

/** Whether the machine knows the zone by its IANA name. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return /^[A-Za-z]/.test(timeZone)
  } catch {
    return false
  }
}

/** When it runs next; a moment that is just over still comes. */
export const nextOf = (times: Times, now: number): number | null =>
  times.cron === null ? times.at : (timesAfter(times, now, 1)[0] ?? null)
