import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { LOG_RETENTION_DAYS } from '../../core/limits.ts'
import type { LogRow, LogStore } from './store.ts'

const DAY_MS = 86_400_000

export interface LogsOptions {
  readonly store: LogStore
  readonly clock: Clock
  /** Where rows wait to be written together. */
  readonly buffer: { add(row: LogRow): void }
}

export function createLogs({ store, clock, buffer }: LogsOptions) {
  return {
    /** Takes note of an answered request; it is on disk within about a second. */
    record(row: Omit<LogRow, 'id'>): void {
      buffer.add({ id: newId(), ...row })
    },

    /** Removes what is past its seven days (specification, Limits). */
    async prune(): Promise<void> {
      const before = clock.now() - LOG_RETENTION_DAYS * DAY_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type Logs = ReturnType<typeof createLogs>
