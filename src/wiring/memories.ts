import type { Apps } from '../features/apps/service.ts'
import { createLikeness } from '../features/memories/likeness.ts'
import { createMemories } from '../features/memories/service.ts'
import { createMemoryStore } from '../features/memories/store.ts'
import { createTurnMemories } from '../features/memories/turn-memories.ts'
import { counted } from '../jobs/counted.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'

export type OpenedMemories = ReturnType<typeof openMemories>

/** Wires what is remembered of those who talk with assistants. */
export function openMemories(
  { db, scans, embedding, clock, log, metrics }: Adapters,
  apps: Apps,
  jobs: Jobs,
) {
  const store = createMemoryStore(db, scans)
  const likeness = createLikeness({ embedding, store, log })
  return {
    service: createMemories({ store, likeness, checkApp: apps.read, clock }),
    inTurns: createTurnMemories({ store, likeness, clock }),
    facts: metrics.page === null ? () => 0 : counted(jobs, 'count memories', store.countAll),
  }
}
