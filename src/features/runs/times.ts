import { Cron } from 'croner'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'

/** When a schedule runs: at each time of a cron expression, or once. */
export interface Times {
  readonly cron: string | null
  readonly at: number | null
  readonly timeZone: string
}

/** Local times that are looked at before the search for further ones ends. */
const LOCAL_TIMES_MAX = 5_000
const FIELDS = 5
const FIELD_FORM = /^[A-Za-z0-9*,/\-?#]+$/

/** The expression with five fields, no seconds and no nickname; null for another text. */
export function cronOf(text: string): string | null {
  const fields = text.trim().split(/\s+/)
  if (fields.length !== FIELDS || !fields.every((field) => FIELD_FORM.test(field))) return null
  const cron = fields.join(' ')
  try {
    const next = new Cron(cron, { timezone: 'UTC', mode: '5-part' }).nextRun()
    return next === null ? null : cron
  } catch {
    return null
  }
}

/**
 * The next times after `from`, at most `count`. A local time that a change of the clock leaves out
 * is the first moment after it, unless the schedule runs every hour. One that comes twice is the
 * first of the two, and both where the expression names no hour.
 */
export function timesAfter({ cron, at, timeZone }: Times, from: number, count: number): number[] {
  if (cron === null) return at !== null && at > from ? [at] : []
  const [, hour = '*'] = cron.split(' ')
  const zone = createZone(timeZone)
  const local = new Cron(cron, { timezone: 'UTC', mode: '5-part' })
  const times = new Set<number>()
  let wall = new Date(from + zone.offset(from) - zone.slack(from))
  let enough: number | null = null
  for (let looked = 0; looked < LOCAL_TIMES_MAX; looked++) {
    const next = local.nextRun(wall)
    if (next === null) break
    wall = next
    const instants = zone.instantsOf(wall.getTime())
    const known = instants.length > 0 || hour === '*' ? instants : [zone.afterGap(wall.getTime())]
    for (const time of hour.includes('*') ? known : known.slice(0, 1)) {
      if (time > from) times.add(time)
    }
    // A later local time may be an earlier moment where the clock is put back.
    if (times.size >= count) enough ??= wall.getTime() + zone.slack(wall.getTime())
    if (enough !== null && wall.getTime() >= enough) break
  }
  return [...times].sort((a, b) => a - b).slice(0, count)
}

/** The smallest distance of two of these times. */
export const closest = (times: readonly number[]): number =>
  times.reduce(
    (least, time, i) => Math.min(least, i === 0 ? least : time - (times[i - 1] ?? 0)),
    Number.POSITIVE_INFINITY,
  )

/** The times from `first` to `now`: the newest one, and the newest of all others. */
export function missedTimes(times: Times, first: number, now: number) {
  const since = Math.max(first, now - DAY_MS - HOUR_MS)
  let found = between(times, since, now)
  // Few enough to be looked at one by one.
  if (found.length < 2 && since > first) found = between(times, first, now)
  return { latest: found.at(-1) ?? first, earlier: found.at(-2) ?? null }
}

function between(times: Times, first: number, now: number): number[] {
  const found: number[] = []
  for (let from = first - 1; ; ) {
    const next = timesAfter(times, from, 100)
    const due = next.filter((time) => time <= now)
    found.push(...due)
    if (next.length === 0 || due.length < next.length) return found
    from = next.at(-1) ?? now
  }
}

/** The minute of a time in the zone, as `2026-11-23 08:00`. */
export const minuteIn = (timeZone: string, time: number): string =>
  new Date(time + createZone(timeZone).offset(time)).toISOString().slice(0, 16).replace('T', ' ')

/** Local times of a zone; a local time is the UTC time with the same digits. */
function createZone(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

  /** By how much local time is ahead of UTC. */
  function offset(time: number): number {
    const parts = format.formatToParts(time)
    const read = (type: string) => Number(parts.find((part) => part.type === type)?.value)
    const local = Date.UTC(
      read('year'),
      read('month') - 1,
      read('day'),
      read('hour'),
      read('minute'),
      read('second'),
    )
    return local - Math.floor(time / 1_000) * 1_000
  }

  /** The moments that have this local time: one, none or two. */
  function instantsOf(wall: number): number[] {
    const offsets = new Set([offset(wall - DAY_MS), offset(wall + DAY_MS)])
    const all = [...offsets].map((ahead) => wall - ahead).filter((t) => t + offset(t) === wall)
    return all.sort((a, b) => a - b)
  }

  /** The first moment after the gap that a local time lies in. */
  function afterGap(wall: number): number {
    let [before, after] = [wall - offset(wall - DAY_MS) - DAY_MS, wall - offset(wall - DAY_MS)]
    const ahead = offset(before)
    if (offset(after) === ahead) return after
    while (after - before > MINUTE_MS / 60) {
      const middle = Math.floor((before + after) / 2)
      if (offset(middle) === ahead) before = middle
      else after = middle
    }
    return Math.round(after / MINUTE_MS) * MINUTE_MS
  }

  /** How far local times and moments may differ in order: not at all where no change is near. */
  const slack = (time: number): number =>
    offset(time - DAY_MS) === offset(time + DAY_MS) ? 0 : 3 * HOUR_MS

  return { offset, instantsOf, afterGap, slack }
}
