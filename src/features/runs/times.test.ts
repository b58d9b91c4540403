import { describe, expect, spyOn, test } from 'bun:test'
import { Cron } from 'croner'
import { DAY_MS } from '../../core/clock.ts'
import { closest, cronOf, minuteIn, missedTimes, timesAfter } from './times.ts'

const at = (text: string) => Date.parse(text)
const next = (cron: string, timeZone: string, from: string, count: number) =>
  timesAfter({ cron, at: null, timeZone }, at(from), count).map((time) =>
    new Date(time).toISOString().slice(0, 16),
  )

describe('times of schedules', () => {
  test('have five fields, and names, lists, steps and L among them', () => {
    for (const cron of ['0 8 * * MON-FRI', '0,30 8 1 JAN,JUL *', '0 8 L * *', '*/15 * * * *']) {
      expect(cronOf(cron)).toBe(cron)
    }
    for (const text of ['', '@daily', '0 0 8 * * *', '0 8 * *', '61 * * * *', '0 0 31 2 *', 'x']) {
      expect(cronOf(text)).toBeNull()
    }
  })

  test('run at the first moment after an hour that is left out', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ])
    expect(next('30 2 * * *', 'America/New_York', '2026-03-08T05:00:00Z', 1)).toEqual([
      '2026-03-08T07:00',
    ])
    expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', 1)).toEqual([
      '2026-10-03T15:30',
    ])
  })

  test('with an hour run once in an hour that comes twice, at its first', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
    expect(next('30 1 * * *', 'America/New_York', '2026-11-01T00:00:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ])
  })

  test('without an hour go on through both changes', () => {
    const autumn = next('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:59:00Z', 6)
    expect(autumn).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-25T02:00',
      '2026-10-25T02:30',
    ])
    expect(next('0 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29T01:00',
      '2026-03-29T02:00',
      '2026-03-29T03:00',
    ])
  })

  test('tell how close they are, and the minute in a zone', () => {
    const times = timesAfter({ cron: '0,4 * * * *', at: null, timeZone: 'UTC' }, 0, 10)
    expect(closest(times)).toBe(4 * 60_000)
    expect(closest([5])).toBe(Number.POSITIVE_INFINITY)
    expect(minuteIn('Asia/Shanghai', at('2026-11-23T00:30:00Z'))).toBe('2026-11-23 08:30')
  })

  test('are found without a look at hours of them where no clock is changed', () => {
    const looks = spyOn(Cron.prototype, 'nextRun')
    expect(next('* * * * *', 'Europe/Berlin', '2026-11-24T12:00:00Z', 10)).toHaveLength(10)
    expect(looks.mock.calls.length).toBeLessThan(20)
    looks.mockRestore()
  })

  test('find the newest missed time and the newest of the others', () => {
    const hourly = { cron: '0 * * * *', at: null, timeZone: 'UTC' }
    const now = at('2026-11-23T10:20:00Z')
    const hour = (n: number) => at(`2026-11-23T${String(n).padStart(2, '0')}:00:00Z`)
    expect(missedTimes(hourly, hour(10), now)).toEqual({ latest: hour(10), earlier: null })
    expect(missedTimes(hourly, hour(3), now)).toEqual({ latest: hour(10), earlier: hour(9) })
    const year = missedTimes(hourly, now - 365 * DAY_MS, now)
    expect(year).toEqual({ latest: hour(10), earlier: hour(9) })
    const weekly = { cron: '0 8 * * MON', at: null, timeZone: 'UTC' }
    const since = at('2026-11-09T08:00:00Z')
    expect(missedTimes(weekly, since, at('2026-11-20T08:00:00Z'))).toEqual({
      latest: at('2026-11-16T08:00:00Z'),
      earlier: since,
    })
  })
})
