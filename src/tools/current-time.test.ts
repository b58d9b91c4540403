import { describe, expect, test } from 'bun:test'
import { createCurrentTime } from './current-time.ts'
import { ToolFailure } from './tool.ts'

const context = { signal: new AbortController().signal, tenantId: 't' }
const at = (iso: string) => createCurrentTime({ now: () => Date.parse(iso) })

describe('current_time', () => {
  test('current_time gives date, time and weekday in a zone', async () => {
    const tool = at('2026-11-21T17:04:05.678Z')
    const result = await tool.run({ time_zone: 'Asia/Shanghai' }, context)
    expect(JSON.parse(result)).toEqual({
      iso: '2026-11-22T01:04:05+08:00',
      time_zone: 'Asia/Shanghai',
      weekday: 'Sunday',
      text: 'Sunday, 2026-11-22 01:04:05 (Asia/Shanghai)',
      utc: '2026-11-21T17:04:05.678Z',
    })
  })

  const zones: [zone: string, iso: string][] = [
    ['UTC', '2026-07-01T00:00:00+00:00'],
    ['America/New_York', '2026-06-30T20:00:00-04:00'],
    ['Asia/Kathmandu', '2026-07-01T05:45:00+05:45'],
    ['europe/berlin', '2026-07-01T02:00:00+02:00'],
    [' Asia/Tokyo ', '2026-07-01T09:00:00+09:00'],
  ]
  test.each(zones)('current_time in %p is %p', async (time_zone, iso) => {
    const result = await at('2026-07-01T00:00:00Z').run({ time_zone }, context)
    expect(JSON.parse(result).iso).toBe(iso)
  })

  test.each(['Mars/Base', '北京', 7, 'x'.repeat(65)])(
    'current_time refuses the zone %p',
    async (time_zone) => {
      const failure = await at('2026-07-01T00:00:00Z')
        .run({ time_zone }, context)
        .catch((error) => error)
      expect(failure).toBeInstanceOf(ToolFailure)
    },
  )

  test.each([{}, { time_zone: '' }])(
    'current_time with %p is in the zone of the server',
    async (args) => {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
      const result = await at('2026-07-01T00:00:00Z').run(args, context)
      expect(JSON.parse(result).time_zone).toBe(timeZone)
    },
  )
})
