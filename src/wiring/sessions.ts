import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { MemoryBudget } from '../core/memory-budget.ts'
import { createDetached } from '../features/agent/detached.ts'
import { createDetachedStore } from '../features/agent/detached-store.ts'
import type { Agent } from '../features/agent/service.ts'
import { createBranchStore } from '../features/sessions/branch-store.ts'
import { createBranches } from '../features/sessions/branches.ts'
import {
  createConversationStore,
  createTranscriptStore,
} from '../features/sessions/conversation-store.ts'
import { createConversations } from '../features/sessions/conversations.ts'
import { createFolding } from '../features/sessions/folding.ts'
import { createIndexing } from '../features/sessions/indexing.ts'
import { createIndexingStore } from '../features/sessions/indexing-store.ts'
import { createMemory, createSessions, createTranscripts } from '../features/sessions/service.ts'
import { createSessionStore, keepRecent } from '../features/sessions/store.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Db, Reader } from '../storage/db.ts'
import type { TurnIndex } from '../storage/indexes.ts'
import type { SharedState } from '../storage/shared-state.ts'

export interface SessionParts {
  readonly config: Pick<Config, 'MB_TRANSCRIPT'>
  readonly clock: Clock
  readonly log: Logger
  readonly db: Db
  /** Runs lists and searches of conversations. */
  readonly scans: Reader
  readonly turnIndex: TurnIndex
  readonly shared: Pick<SharedState, 'isAlone' | 'leases'>
  readonly jobs: Jobs
  readonly budget: MemoryBudget
}

/** Wires sessions: what a turn remembers, and what people and programs read of it. */
export function openSessions(parts: SessionParts) {
  const { config, clock, log, db, scans: reader, turnIndex: index, shared, jobs, budget } = parts
  const keepsTranscript = config.MB_TRANSCRIPT
  const stored = createSessionStore(db, { keepsTranscript, index })
  // Where another process may store the next turn, each turn reads the session from the database.
  const store = shared.isAlone ? keepRecent(stored) : stored
  /** Deletes what was kept while transcripts were on. */
  async function forgetFolded(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await store.forgetFolded()) > 0);
  }
  const { leases } = shared
  const indexing = createIndexing({ store: createIndexingStore({ db, reader, index }), leases })
  jobs.run('index conversations', indexing.run)
  if (!keepsTranscript) jobs.run('forget transcripts', forgetFolded)
  const sessions = createSessions({ store })
  const conversations = createConversations({
    store: createConversationStore({ db, reader, index }),
    index,
  })
  return {
    memory: createMemory({ store }),
    folding: createFolding({ store, clock, jobs, leases, log, budget }),
    talks: { removal: store.removal, forget: store.forget, ownerOf: store.ownerOf },
    services: {
      sessions,
      conversations,
      branches: createBranches({
        ...{ store: createBranchStore(db), conversations, sessions, clock },
        onCopied: () => jobs.run('index conversations', indexing.run),
      }),
      transcripts: createTranscripts({ store: createTranscriptStore(db), sessions: store }),
    },
  }
}

export type DetachedParts = Pick<SessionParts, 'clock' | 'log' | 'db' | 'jobs'> &
  Pick<ReturnType<typeof openSessions>, 'services' | 'talks'> & {
    readonly shared: Pick<SharedState, 'leases' | 'announcer'>
    readonly agent: Pick<Agent, 'openTurn'>
  }

const SETTLE_EVERY_MS = 10_000

/** Wires turns that go on when their reader leaves. */
export function openDetached(parts: DetachedParts) {
  const { clock, log, db, jobs, shared, agent, services, talks } = parts
  const { leases, announcer } = shared
  const store = createDetachedStore(db)
  const detached = createDetached({
    ...{ store, sessions: talks, agent, clock, log, jobs, leases, announcer },
  })
  services.sessions.onRemoved(detached.endSession)
  jobs.run('interrupt turns', detached.settle)
  jobs.every('interrupt turns', SETTLE_EVERY_MS, detached.settle)
  return detached
}
