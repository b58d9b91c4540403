import { expect, test } from 'bun:test'
import { coming, relative } from './time.ts'

// A Monday, 22:00 in Shanghai.
const now = Date.parse('2026-11-23T14:00:00Z')
const at = (days: number) => Date.parse('2026-11-24T00:00:00Z') + (days - 1) * 86_400_000

test.each([
  ['en', 1, 'tomorrow, Tuesday 08:00'],
  ['zh', 1, '明天，星期二 08:00'],
  ['en', 4, 'Friday 08:00'],
  ['zh', 4, '星期五 08:00'],
] as const)('in %s a time %d days ahead is %p', (locale, days, text) => {
  expect(coming(at(days), now, locale, 'Asia/Shanghai').replace(' at ', ' ')).toBe(text)
})

test('a time in a week or later has its date', () => {
  expect(coming(at(8), now, 'en', 'Asia/Shanghai')).toContain('December 1, 2026')
})

test('the day is that of the zone: midnight has passed there', () => {
  const soon = Date.parse('2026-11-23T16:30:00Z')
  expect(coming(soon, now, 'en', 'Asia/Shanghai')).toStartWith('tomorrow, Tuesday')
  expect(coming(soon, now, 'en', 'UTC')).toStartWith('today, Monday')
})

test.each([
  ['en', -59, 'now'],
  ['en', -23 * 3_600, '23 hours ago'],
  ['en', -25 * 3_600, 'yesterday'],
  ['en', -47 * 3_600, '2 days ago'],
  ['zh', -47 * 3_600, '前天'],
  ['en', 27 * 3_600, 'in 2 days'],
  ['zh', 25 * 3_600, '明天'],
] as const)('in %s what is %d seconds away is %p', (locale, seconds, text) => {
  expect(relative(now + seconds * 1_000, now, locale, 'Asia/Shanghai')).toBe(text)
})
