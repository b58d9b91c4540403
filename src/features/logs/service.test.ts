import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { createHistogram } from './histogram.ts'
import { parseLogQuery } from './query.ts'
import { createLogs } from './service.ts'
import type { LogStore } from './store.ts'

/** Not answered by what is kept of whole days. */
const query = parseLogQuery(new URLSearchParams('endpoint=/v1/agent'))

/** Logs over a store whose slices end when they are let; `reading` has who reads one now. */
function logging() {
  const reading: string[] = []
  const waiting: (() => void)[] = []
  const store: LogStore = {
    async write() {},
    async prune() {
      return 0
    },
    async rows() {
      return []
    },
    async latencies() {
      return []
    },
    async dayLatencies() {
      return []
    },
    async summary() {
      return { count: 0, err_count: 0, p50_ms: null, p95_ms: null }
    },
    async statuses() {
      return []
    },
    async sliceStart(tenantId, { until }) {
      reading.push(tenantId)
      await new Promise<void>((resolve) => waiting.push(resolve))
      reading.splice(reading.indexOf(tenantId), 1)
      return until > 2 ? 2 : null
    },
  }
  const buffer = { add() {}, async flush() {} }
  const logs = createLogs({ store, clock: systemClock(), buffer, days: () => 90 })
  const turn = async () => {
    for (const end of waiting.splice(0)) end()
    await Bun.sleep(0)
  }
  return { logs, reading, turn }
}

test('log summaries wait for those of the same tenant only', async () => {
  const { logs, reading, turn } = logging()
  const mine = ['a', 'a', 'a', 'b'].map((tenant) => logs.list(tenant, query))
  await Bun.sleep(0)
  expect(reading).toEqual(['a', 'b'])
  await turn()
  await turn()
  expect(reading).toEqual(['a'])
  for (let n = 0; n < 4; n++) await turn()
  expect(await Promise.all(mine)).toHaveLength(4)
})

test('a cancelled log summary is not read to its end', async () => {
  const { logs, reading, turn } = logging()
  const leaving = new AbortController()
  const left = logs.list('a', query, leaving.signal).catch((error: Error) => error.name)
  const next = logs.list('a', query)
  await Bun.sleep(0)
  leaving.abort()
  await turn()
  expect(await left).toBe('AbortError')
  expect(reading).toEqual(['a'])
  await turn()
  await turn()
  expect((await next).logs).toEqual([])
})

const rows = (latencies: readonly (number | null)[]) =>
  latencies.map((latencyMs) => ({ latencyMs, count: 1, errors: 0 }))

/** Percentiles the plain way: sort ascending, take index floor((n-1)·p). */
function byTheBook(latencies: readonly number[], p: number): number | null {
  const sorted = latencies.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * p)] ?? null
}

describe('percentiles', () => {
  test.each([
    [[], null, null],
    [[null, null], null, null],
    [[7], 7, 7],
    [[1, 2], 1, 1],
    [[3, 1, 2], 2, 2],
    [[4, 3, 2, 1], 2, 3],
    [[10, null, 20, null, 30], 20, 20],
    [[0, 0, 0, 1000], 0, 0],
    [Array.from({ length: 100 }, (_, i) => i + 1), 50, 95],
    [Array.from({ length: 101 }, (_, i) => i + 1), 51, 96],
  ])('percentiles of %j are %p and %p', (latencies, p50, p95) => {
    const histogram = createHistogram()
    histogram.add(rows(latencies))
    expect(histogram.summary()).toEqual({
      count: latencies.length,
      err_count: 0,
      p50_ms: p50,
      p95_ms: p95,
    })
  })

  test('percentiles are those of the sorted list, however the rows are sliced', () => {
    for (let length = 1; length <= 60; length++) {
      const latencies = Array.from({ length }, (_, i) => (i * 7919) % 23)
      const histogram = createHistogram()
      for (let at = 0; at < length; at += 7) histogram.add(rows(latencies.slice(at, at + 7)))
      const { p50_ms, p95_ms } = histogram.summary()
      expect([p50_ms, p95_ms]).toEqual([byTheBook(latencies, 0.5), byTheBook(latencies, 0.95)])
    }
  })
})

test('a histogram sums the counts and errors of all slices', () => {
  const histogram = createHistogram()
  histogram.add([{ latencyMs: 5, count: 3, errors: 1 }])
  histogram.add([
    { latencyMs: 5, count: 2, errors: 2 },
    { latencyMs: null, count: 1, errors: 1 },
  ])
  expect(histogram.summary()).toEqual({ count: 6, err_count: 4, p50_ms: 5, p95_ms: 5 })
})
