import { describe, expect, test } from 'bun:test'
import type { LogRow } from '../../api/types.ts'
import { errorClasses, latencySeries, percentile } from './series.ts'

const row = (minute: number, latency_ms: number | null, error_class: string | null = null) =>
  ({ ts: new Date(minute * 60_000).toISOString(), latency_ms, error_class }) as LogRow

describe('log figures', () => {
  test('percentiles of log rows take index floor((n-1)·p)', () => {
    expect(percentile([1, 2, 3, 4], 0.5)).toBe(2)
    expect(percentile([1, 2, 3, 4], 0.95)).toBe(3)
    expect(percentile([], 0.5)).toBeNull()
  })

  test('log rows fall into equal spans, and empty spans are left out', () => {
    const series = latencySeries([row(0, 10), row(1, 30), row(100, 50), row(50, null)], 10)
    expect(series.map(({ p50, p95 }) => [p50, p95])).toEqual([
      [10, 10],
      [50, 50],
    ])
  })

  test('charts are drawn of no log rows and of one', () => {
    expect(latencySeries([], 10)).toEqual([])
    expect(latencySeries([row(5, 7)], 10)).toHaveLength(1)
  })

  test('error classes of log rows are counted, the most frequent first', () => {
    const rows = [row(0, 1, 'not_found'), row(0, 1, 'upstream'), row(0, 1, 'upstream'), row(0, 1)]
    expect(errorClasses(rows)).toEqual([
      ['upstream', 2],
      ['not_found', 1],
    ])
  })
})
