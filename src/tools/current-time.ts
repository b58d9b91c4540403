import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { defineTool, ToolFailure } from './tool.ts'

const args = z.object({
  time_zone: z.string().trim().max(64).optional().describe('IANA name, such as Asia/Shanghai'),
})

/** Returns JSON with `iso` (with offset), `time_zone`, `weekday`, `text` and `utc`. */
export function createCurrentTime(clock: Pick<Clock, 'now'>) {
  return defineTool({
    name: 'current_time',
    description:
      'Current date, time and weekday. Without time_zone, in the time zone of the server.',
    args,
    run: ({ time_zone }) => JSON.stringify(describeTime(clock.now(), time_zone || undefined)),
  })
}

function describeTime(now: number, wanted: string | undefined) {
  const parts = partsOf(now, wanted)
  const date = `${parts.year}-${parts.month}-${parts.day}`
  const time = `${parts.hour}:${parts.minute}:${parts.second}`
  const offset = parts.timeZoneName.replace('GMT', '') || '+00:00'
  return {
    iso: `${date}T${time}${offset}`,
    time_zone: parts.timeZone,
    weekday: parts.weekday,
    text: `${parts.weekday}, ${date} ${time} (${parts.timeZone})`,
    utc: new Date(now).toISOString(),
  }
}

function partsOf(now: number, wanted: string | undefined) {
  const format = formatIn(wanted)
  const found = Object.fromEntries(
    format.formatToParts(now).map(({ type, value }) => [type, value]),
  )
  const part = (name: Intl.DateTimeFormatPartTypes) => found[name] ?? ''
  return {
    year: part('year').padStart(4, '0'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
    weekday: part('weekday'),
    timeZoneName: part('timeZoneName'),
    timeZone: format.resolvedOptions().timeZone,
  }
}

function formatIn(timeZone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      ...(timeZone === undefined ? {} : { timeZone }),
      ...({ year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'long' } as const),
      ...({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const),
      timeZoneName: 'longOffset',
    })
  } catch {
    throw new ToolFailure('unknown time zone; use an IANA name such as Asia/Shanghai')
  }
}
