import { describe, expect, test } from 'bun:test'
import { createHistogram } from './histogram.ts'

const rows = (latencies: readonly (number | null)[]) =>
  latencies.map((latencyMs) => ({ latencyMs, count: 1, errors: 0 }))

/** The contract's words: sort ascending, take index floor((n-1)·p). */
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
