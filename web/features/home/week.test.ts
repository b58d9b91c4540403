import { expect, test } from 'bun:test'
import { requestsByDay } from './week.ts'

test('the days of the home page begin at the midnights of the reader, without a gap', async () => {
  const asked: Readonly<Record<string, string>>[] = []
  const now = new Date(2026, 10, 3, 0, 30)
  const days = await requestsByDay(async (query) => {
    asked.push(query)
    return { logs: [], summary: { count: 2, err_count: 1, p50_ms: null, p95_ms: null } }
  }, now)
  expect(days.map(({ from }) => [from.getMonth() + 1, from.getDate(), from.getHours()])).toEqual([
    ...[28, 29, 30, 31].map((day) => [10, day, 0]),
    ...[1, 2, 3].map((day) => [11, day, 0]),
  ])
  for (const [place, { until }] of asked.entries()) {
    const next = asked[place + 1]?.since
    expect(until && Date.parse(until) + 1).toBe(next && Date.parse(next))
  }
  expect(days.at(-1)).toMatchObject({ count: 2, errors: 1 })
})
