import { quantile } from '../bench/stats.ts'

/** Counts and times of every kind of action, and its failures. */
export function createTally() {
  const times = new Map<string, number[]>()
  const faults: string[] = []
  return {
    faults,
    async time(name: string, work: () => Promise<unknown>): Promise<void> {
      const begin = performance.now()
      try {
        await work()
        times.set(name, [...(times.get(name) ?? []), performance.now() - begin])
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error))
      }
    },
    text: () =>
      [...times]
        .map(([name, all]) => {
          const [p50, p95] = [0.5, 0.95].map((share) => quantile(all, share).toFixed(0))
          return `${name} ${all.length} (${p50}/${p95} ms)`
        })
        .concat(faults.length > 0 ? [`${faults.length} FAULTS`] : [])
        .join(', '),
  }
}
