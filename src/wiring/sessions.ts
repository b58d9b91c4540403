import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { MemoryBudget } from '../core/memory-budget.ts'
import { createConversationStore } from '../features/sessions/conversation-store.ts'
import { createConversations } from '../features/sessions/conversations.ts'
import { createFolding } from '../features/sessions/folding.ts'
import { createMemory, createSessions } from '../features/sessions/service.ts'
import { createSessionStore, keepRecent } from '../features/sessions/store.ts'
import { createTranscriptStore } from '../features/sessions/transcript-store.ts'
import { createTranscripts } from '../features/sessions/transcripts.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Db, Reader } from '../storage/db.ts'

export interface SessionParts {
  readonly config: Pick<Config, 'MB_TRANSCRIPT'>
  readonly clock: Clock
  readonly log: Logger
  readonly db: Db
  readonly reader: Reader
  readonly jobs: Jobs
  readonly budget: MemoryBudget
}

/** Wires sessions: what a turn remembers, and what people and programs read of it. */
export function openSessions({ config, clock, log, db, reader, jobs, budget }: SessionParts) {
  const keepsTranscript = config.MB_TRANSCRIPT
  const store = keepRecent(createSessionStore(db, { keepsTranscript }))
  /** Deletes what was kept while transcripts were on. */
  async function forgetFolded(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await store.forgetFolded()) > 0);
  }
  if (!keepsTranscript) jobs.run('forget transcripts', forgetFolded)
  return {
    memory: createMemory({ store }),
    folding: createFolding({ store, clock, jobs, log, budget }),
    services: {
      sessions: createSessions({ store }),
      transcripts: createTranscripts({ store: createTranscriptStore(db) }),
      conversations: createConversations({ store: createConversationStore(db, reader) }),
    },
  }
}
