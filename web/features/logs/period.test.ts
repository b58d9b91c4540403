import { expect, test } from 'bun:test'
import type { LogRow, Logs } from '../../api/types.ts'
import { type AskLogs, chartsOfPeriod } from './period.ts'
import { percentile } from './series.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const HOUR_MS = 3_600_000

const row = (ago: number, latency: number, error: string | null = null): LogRow => ({
  id: crypto.randomUUID(),
  app_id: null,
  device_id: null,
  endpoint: '/v1/agent',
  status: error === null ? 200 : error === 'upstream' ? 502 : 429,
  latency_ms: latency,
  session_id: null,
  text_chars: 1,
  error_class: error,
  ...{ channel: null, key_id: null, first_ms: null, total_ms: null },
  ts: new Date(NOW - ago).toISOString(),
})

/** Answers as the server does. */
function serverWith(rows: readonly LogRow[]) {
  const asked: Readonly<Record<string, string>>[] = []
  const ask: AskLogs = async (query): Promise<Logs> => {
    asked.push(query)
    const { since = '', until = '9', status, error_class: named, limit } = query
    const matching = rows.filter(
      (one) =>
        one.ts >= since &&
        one.ts <= until &&
        (!status || String(one.status).startsWith(status.slice(0, 1))) &&
        (!named || one.error_class === named),
    )
    const sorted = matching.map((one) => one.latency_ms ?? 0).sort((a, b) => a - b)
    const summary = {
      count: matching.length,
      err_count: matching.filter((one) => one.status >= 400).length,
      p50_ms: percentile(sorted, 0.5),
      p95_ms: percentile(sorted, 0.95),
    }
    return { logs: matching.slice(0, Number(limit)), summary }
  }
  return { ask, asked }
}

test('the charts of a busy day show the whole day, not its newest rows', async () => {
  const slow = Array.from({ length: 700 }, (_, i) => row(23 * HOUR_MS - i, 900, 'upstream'))
  const quick = Array.from({ length: 900 }, (_, i) => row(i, 10, i % 3 ? null : 'rate_limited'))
  const { ask } = serverWith([...quick, ...slow])
  const { points, classes } = await chartsOfPeriod(ask, { hours: '24' }, NOW)
  expect(points.map(({ p50 }) => p50)).toEqual([900, 10])
  expect(points[0]?.at).toBeLessThan(NOW - 22 * HOUR_MS)
  expect(classes).toEqual([
    ['upstream', 700],
    ['rate_limited', 300],
  ])
})

test('every moment of the period is requested once, with the filters of the page', async () => {
  const { ask, asked } = serverWith([row(5 * HOUR_MS, 1)])
  await chartsOfPeriod(ask, { hours: '24', app_id: 'a' }, NOW)
  expect(asked.every(({ app_id: app, hours }) => app === 'a' && hours === undefined)).toBe(true)
  const spans = asked.filter(({ until }) => until).slice(-24)
  expect(spans.at(-1)?.until).toBe(new Date(NOW).toISOString())
  for (const [i, { since = '' }] of spans.slice(1).entries()) {
    expect(Date.parse(since)).toBe(Date.parse(spans[i]?.until ?? '') + 1)
  }
})

test('rows of one hour of a week are spread over the chart', async () => {
  const rows = Array.from({ length: 700 }, (_, i) => row((i * 20 * HOUR_MS) / 700, i))
  const { points } = await chartsOfPeriod(serverWith(rows).ask, {}, NOW)
  expect(points.length).toBeGreaterThan(15)
})
