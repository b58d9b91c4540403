import type { Clock } from '../core/clock.ts'

/** Between two lines. */
const EVERY_MS = 5_000
/** Before it an estimate would rest on too little. */
const ESTIMATE_MS = 2_000

export interface Step {
  readonly name: string
  readonly rows: number
  /** The work of one row, in rows of an ordinary table. */
  readonly weight: number
}

interface ProgressParts {
  readonly clock: Pick<Clock, 'steady'>
  readonly write: (text: string) => void
  readonly steps: readonly Step[]
}

/**
 * Tells how far a long copy is, every few seconds, and how long it will still take at the pace so
 * far. A short copy tells nothing.
 */
export function createProgress({ clock, write, steps }: ProgressParts) {
  const weights = new Map(steps.map(({ name, weight }) => [name, weight]))
  const rows = steps.reduce((sum, step) => sum + step.rows, 0)
  const total = steps.reduce((sum, step) => sum + step.rows * step.weight, 0)
  const begin = clock.steady()
  let told = begin
  let [copied, work] = [0, 0]
  return {
    /** How many rows of a step are done since the last call. */
    add(name: string, count: number): void {
      copied += count
      work += count * (weights.get(name) ?? 1)
      const now = clock.steady()
      if (now - told < EVERY_MS) return
      told = now
      const percent = Math.min(99, Math.floor((work / total) * 100))
      const left = leftOf(now - begin, work, total)
      write(`  ${String(percent).padStart(2)} %  ${copied} of ${rows} rows, ${name}${left}\n`)
    },
  }
}

export type Progress = Pick<ReturnType<typeof createProgress>, 'add'>

function leftOf(passedMs: number, work: number, total: number): string {
  if (passedMs < ESTIMATE_MS || work <= 0) return ''
  return `; about ${duration((passedMs * Math.max(0, total - work)) / work)} left`
}

/** In the largest unit that says enough: `40 s`, `3 min`, `2 h 10 min`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
