import type { LogRow } from '../../api/types.ts'

export interface Point {
  readonly at: number
  readonly p50: number
  readonly p95: number
}

/** Sorted ascending, index floor((n-1)·p): the rule the server's own summary follows. */
export function percentile(sorted: readonly number[], p: number): number | null {
  return sorted[Math.floor((sorted.length - 1) * p)] ?? null
}

/** Latency over time: the rows in `buckets` equal spans, spans without rows left out. */
export function latencySeries(rows: readonly LogRow[], buckets: number): Point[] {
  const timed = rows.flatMap(({ ts, latency_ms }) =>
    latency_ms === null ? [] : [{ at: Date.parse(ts), ms: latency_ms }],
  )
  const times = timed.map(({ at }) => at)
  const first = Math.min(...times)
  const span = Math.max(1, Math.max(...times) - first)
  const groups = Map.groupBy(timed, ({ at }) =>
    Math.min(buckets - 1, Math.floor(((at - first) / span) * buckets)),
  )
  return [...groups.entries()]
    .sort(([a], [b]) => a - b)
    .map(([index, group]) => {
      const sorted = group.map(({ ms }) => ms).sort((a, b) => a - b)
      const at = first + ((index + 0.5) / buckets) * span
      return { at, p50: percentile(sorted, 0.5) ?? 0, p95: percentile(sorted, 0.95) ?? 0 }
    })
}

/** The count of each error class, the most frequent first. */
export function errorClasses(rows: readonly LogRow[]): [name: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { error_class: name } of rows) {
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)
}
