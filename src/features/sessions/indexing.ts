import type { Clock } from '../../core/clock.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { IndexingStore } from './indexing-store.ts'

export interface IndexingOptions {
  readonly store: IndexingStore
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Pick<Clock, 'steady' | 'sleep'>
}

/** Rounds that a search waits for: some thousand turns. */
const ROUNDS_BEFORE_SEARCH = 20
/** Between two full rounds the writing thread is left to others for this many times a round. */
const REST = 3

/**
 * Indexes turns after they were stored, many at once: in the turn's own transaction their words
 * would take longer than the turn. A search first indexes what waits of its tenant. What was done
 * stays done when interrupted.
 */
export function createIndexing({ store, leases, clock }: IndexingOptions) {
  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = clock.steady()
      const { waited, stored, isFull } = await store.round(null)
      // What was changed meanwhile waits for the next run.
      if (waited === 0 || stored === 0) return
      if (isFull) await clock.sleep(REST * (clock.steady() - begun), signal)
    }
  }

  return {
    async run(signal: AbortSignal): Promise<void> {
      if (await store.waits()) await leases.hold('index conversations', signal, work)
    },

    /** Indexes what waits of a tenant; of a great many turns the newest sessions' ones. */
    async catchUp(tenantId: string, signal?: AbortSignal): Promise<void> {
      for (let round = 0; round < ROUNDS_BEFORE_SEARCH; round++) {
        signal?.throwIfAborted()
        const { waited } = await store.round(tenantId)
        if (waited === 0) return
      }
    },
  }
}

export type Indexing = ReturnType<typeof createIndexing>
