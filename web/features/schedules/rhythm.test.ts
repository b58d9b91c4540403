import { expect, test } from 'bun:test'
import { timesOf, timingOf } from './rhythm.ts'

test('words and cron expressions say the same, both ways', () => {
  for (const cron of ['0 8 * * *', '30 7 * * 1-5', '0 18 * * 0', '5 9 28 * *', '*/30 * * * *']) {
    expect(timesOf(timingOf(cron, null))).toEqual({ cron, at: null })
  }
  expect(timingOf('0 8 * * 1-5', null).rhythm).toBe('weekdays')
  expect(timingOf('0 8 1 * 1', null).rhythm).toBe('cron')
  const at = '2026-11-23T08:00:00.000Z'
  expect(timesOf(timingOf(null, at))).toEqual({ cron: null, at })
  expect(timesOf({ ...timingOf(null, at), moment: '' })).toBeNull()
})
