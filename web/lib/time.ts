import { useEffect, useState } from 'react'
import { serverNow } from '../api/client.ts'
import { useI18n } from '../i18n/index.tsx'

export const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Days of the calendar from `from` to `to` in a time zone; by default in that of the browser. */
function daysBetween(from: number, to: number, timeZone?: string): number {
  const midnight = (at: number) => Date.parse(new Date(at).toLocaleDateString('sv', { timeZone }))
  return Math.round((midnight(to) - midnight(from)) / DAY_MS)
}

const STEPS = [
  ['hour', 3_600_000],
  ['minute', MINUTE_MS],
] as const

/**
 * "3 minutes ago", "in 2 hours", "yesterday"; under a minute "now". Days are those of the calendar:
 * 26 hours ago may have been the day before yesterday.
 */
export function relative(then: number, now: number, locale: string, timeZone?: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const passed = then - now
  if (Math.abs(passed) >= DAY_MS) return format.format(daysBetween(now, then, timeZone), 'day')
  const step = STEPS.find(([, size]) => Math.abs(passed) >= size)
  return step ? format.format(Math.trunc(passed / step[1]), step[0]) : format.format(0, 'second')
}

/** Chinese formats put the hour right behind the name of a day: "星期二08:00". */
const spaced = (text: string) => text.replace(/(\p{Script=Han})(?=\d\d:)/gu, '$1 ')

/**
 * A time to come as people say it: "tomorrow, Tuesday 08:00", "Friday 08:00" within a week, a date
 * later on.
 */
export function coming(at: number, now: number, locale: string, timeZone: string): string {
  const days = daysBetween(now, at, timeZone)
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const
  const time = (fields: Intl.DateTimeFormatOptions) =>
    spaced(new Intl.DateTimeFormat(locale, { ...fields, ...clock }).format(at))
  if (days >= 7) return time({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' })
  const named = time({ weekday: 'long' })
  if (days > 1) return named
  const day = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day')
  return locale.startsWith('zh') ? `${day}，${named}` : `${day}, ${named}`
}

/** What `read` makes of the server's time, looked at every `everyMs`. */
export function useNow(everyMs: number, read = (at: number) => at): number {
  const [now, setNow] = useState(() => read(serverNow()))
  useEffect(() => {
    const timer = setInterval(() => setNow(read(serverNow())), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, read])
  return now
}

/** Formats times in the current language. */
export function useTimes() {
  const { locale } = useI18n()
  const now = useNow(30_000)
  const exact = (moment: string | number, timeZone?: string) =>
    new Date(moment).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })
  return {
    exact,
    coming: (moment: string | number, zone: string) => coming(+new Date(moment), now, locale, zone),
    ago: (moment: string | number) => relative(+new Date(moment), now, locale),
  }
}
