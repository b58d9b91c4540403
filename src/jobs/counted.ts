import type { Jobs } from './runner.ts'

const COUNT_EVERY_MS = 30_000

/** A number for /metrics, counted at once and every half minute; 0 until it was counted. */
export function counted(
  jobs: Pick<Jobs, 'run' | 'every'>,
  name: string,
  count: () => Promise<number>,
): () => number {
  let last = 0
  const look = async () => {
    last = await count()
  }
  jobs.run(name, look)
  jobs.every(name, COUNT_EVERY_MS, look)
  return () => last
}
