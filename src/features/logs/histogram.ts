import type { LatencyCount } from './store.ts'

/**
 * Counts rows by latency, over any number of slices of the log. There are far fewer latencies than
 * rows, so exact percentiles cost little memory.
 */
export function createHistogram() {
  const counts = new Map<number, number>()
  let rows = 0
  let errors = 0
  let measured = 0

  /** Lower nearest rank: index floor((n-1)·percent/100) in ascending order. */
  function percentile(
    sorted: readonly (readonly [number, number])[],
    percent: number,
  ): number | null {
    let index = Math.floor(((measured - 1) * percent) / 100)
    for (const [latency, count] of sorted) {
      if (index < count) return latency
      index -= count
    }
    return null
  }

  return {
    add(slice: readonly LatencyCount[]): void {
      for (const { latencyMs, count, errors: failed } of slice) {
        rows += count
        errors += failed
        if (latencyMs === null) continue
        measured += count
        counts.set(latencyMs, (counts.get(latencyMs) ?? 0) + count)
      }
    },
    summary() {
      const sorted = [...counts].sort(([a], [b]) => a - b)
      return {
        count: rows,
        err_count: errors,
        p50_ms: percentile(sorted, 50),
        p95_ms: percentile(sorted, 95),
      }
    },
  }
}

export type Histogram = ReturnType<typeof createHistogram>
