/** How often a schedule runs, in words that a form offers. */
export const RHYTHMS = ['daily', 'weekdays', 'weekly', 'monthly', 'once', 'cron'] as const
export type Rhythm = (typeof RHYTHMS)[number]

export interface Timing {
  readonly rhythm: Rhythm
  /** `08:00`. */
  readonly time: string
  /** 0 is Sunday. */
  readonly weekday: number
  readonly day: number
  /** As a field of a date and a time has it. */
  readonly moment: string
  readonly cron: string
}

export const FIRST: Timing = {
  ...{ rhythm: 'daily', time: '08:00', weekday: 1, day: 1, moment: '', cron: '0 8 * * *' },
}

/** The times as the server takes them; null while they are not whole. */
export function timesOf({ rhythm, time, weekday, day, moment, cron }: Timing) {
  if (rhythm === 'once') {
    const at = new Date(moment)
    return Number.isNaN(at.getTime()) ? null : { cron: null, at: at.toISOString() }
  }
  if (rhythm === 'cron') return cron.trim() === '' ? null : { cron: cron.trim(), at: null }
  const [hour, minute] = time.split(':').map(Number)
  if (hour === undefined || minute === undefined || Number.isNaN(hour + minute)) return null
  const days = { daily: '* * *', weekdays: '* * 1-5', weekly: `* * ${weekday}` }
  const rest = rhythm === 'monthly' ? `${day} * *` : days[rhythm]
  return { cron: `${minute} ${hour} ${rest}`, at: null }
}

const two = (number: string | number) => String(number).padStart(2, '0')

/** The words for times that the server has. */
export function timingOf(cron: string | null, at: string | null): Timing {
  if (at !== null) {
    const local = new Date(at)
    const day = `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())}`
    const moment = `${day}T${two(local.getHours())}:${two(local.getMinutes())}`
    return { ...FIRST, rhythm: 'once', moment }
  }
  const own: Timing = { ...FIRST, rhythm: 'cron', cron: cron ?? '' }
  const match = /^(\d+) (\d+) (\*|\d+) \* (\*|1-5|[0-6])$/.exec(cron ?? '')
  if (!match) return own
  const [, minute = '0', hour = '0', day = '*', weekday = '*'] = match
  const timed = { ...own, time: `${two(hour)}:${two(minute)}` }
  if (day !== '*') return weekday === '*' ? { ...timed, rhythm: 'monthly', day: Number(day) } : own
  if (weekday === '*') return { ...timed, rhythm: 'daily' }
  if (weekday === '1-5') return { ...timed, rhythm: 'weekdays' }
  return { ...timed, rhythm: 'weekly', weekday: Number(weekday) }
}
