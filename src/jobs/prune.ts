import { type Clock, createSettledClock } from '../core/clock.ts'
import { CLOCK_SETTLED_MS } from '../core/limits/machine.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** What is deleted, by the name of its records. */
type Deletions = Readonly<Record<string, () => Promise<void>>>

export interface PruneOptions {
  readonly clock: Pick<Clock, 'now' | 'steady'>
  readonly log: Pick<Logger, 'error'>
  /** Deletes what is too old. */
  readonly byAge: Deletions
  /** Deletes what nothing refers to any more, whatever the time is. */
  readonly unused: Deletions
}

/**
 * The job that deletes records. By their age it deletes none until the clock has run evenly for
 * `CLOCK_SETTLED_MS`: a wrong clock is often corrected a moment later. Records that fail to be
 * deleted are logged by name and do not keep those after them.
 */
export function createPrune({ clock, log, byAge, unused }: PruneOptions): () => Promise<void> {
  const isSettled = createSettledClock(clock, CLOCK_SETTLED_MS)
  return async () => {
    const due = isSettled() ? [unused, byAge] : [unused]
    for (const [records, remove] of due.flatMap((deletions) => Object.entries(deletions))) {
      try {
        await remove()
      } catch (error) {
        log.error('prune failed', { records, ...errorFields(error) })
      }
    }
  }
}
