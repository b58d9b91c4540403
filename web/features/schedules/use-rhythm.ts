import type { Schedule } from '../../api/schedules.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useTimes } from '../../lib/time.ts'
import { timingOf } from './rhythm.ts'
import { weekdayName } from './weekday.ts'
import { zoneHere } from './zone.ts'

/** Every 20 minutes, and at a minute of every hour: rhythms that the form has no word for. */
const MINUTES = /^\*\/(\d+) \* \* \* \*$/
const HOURLY = /^(\d+) \* \* \* \*$/

/** When a schedule runs, as people say it: "Monday to Friday at 08:00". */
export function useRhythm(): (schedule: Schedule) => string {
  const { t, locale } = useI18n()
  const { exact } = useTimes()
  const here = zoneHere()

  const cronOf = (cron: string): string => {
    const [, count] = MINUTES.exec(cron) ?? []
    const [, minute] = HOURLY.exec(cron) ?? []
    if (count !== undefined) return t('schedules.says.minutes', { count })
    if (minute !== undefined) return t('schedules.says.hourly', { minute })
    return t('schedules.says.cron', { cron })
  }

  return ({ cron, at, time_zone: zone }) => {
    const inZone = (words: string) =>
      zone === here ? words : t('schedules.says.zone', { rhythm: words, zone })
    if (at !== null) return inZone(t('schedules.says.once', { time: exact(at, zone) }))
    const { rhythm, time, weekday, day } = timingOf(cron, null)
    if (rhythm === 'cron' || rhythm === 'once') return inZone(cronOf(cron ?? ''))
    const values = { time, day, weekday: weekdayName(weekday, locale) }
    return inZone(t(`schedules.says.${rhythm}`, values))
  }
}
