import { storedAsExpected } from '../../storage/db.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { IndexingStore } from './indexing-store.ts'

export interface IndexingOptions {
  readonly store: IndexingStore
  readonly leases: Pick<Leases, 'hold'>
}

/**
 * Indexes turns that came without an index, as those of a box that moved to PostgreSQL do, in the
 * background: those of the newest conversations first. What was done stays done when interrupted.
 */
export function createIndexing({ store, leases }: IndexingOptions) {
  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const session = await store.waiting()
      if (!session) return
      // A session that was deleted meanwhile no longer waits.
      await storedAsExpected(store.step(session))
    }
  }

  return {
    run: (signal: AbortSignal) => leases.hold('index conversations', signal, work),
  }
}
