import { useEffect, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'

const STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** "3 minutes ago", "in 2 hours"; under a minute "now". */
function relative(then: number, now: number, locale: string): string {
  const seconds = (then - now) / 1000
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size)
  return step ? format.format(Math.trunc(seconds / step[1]), step[0]) : format.format(0, 'second')
}

/** The current time, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Formats times in the current language. */
export function useTimes() {
  const { locale } = useI18n()
  const now = useNow(30_000)
  const exact = (moment: string | number) =>
    new Date(moment).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  return { exact, ago: (moment: string | number) => relative(+new Date(moment), now, locale) }
}
