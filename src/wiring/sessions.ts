import type { MemoryBudget } from '../core/memory-budget.ts'
import { createDetached } from '../features/agent/detached.ts'
import { createDetachedStore } from '../features/agent/detached-store.ts'
import type { Agent } from '../features/agent/service.ts'
import { beginning } from '../features/sessions/access.ts'
import { createBranchStore } from '../features/sessions/branch-store.ts'
import { createBranches } from '../features/sessions/branches.ts'
import {
  createConversationStore,
  createTranscriptStore,
} from '../features/sessions/conversation-store.ts'
import { createConversations } from '../features/sessions/conversations.ts'
import { createSessionExport } from '../features/sessions/export.ts'
import { createFolding } from '../features/sessions/folding.ts'
import { createIndexing } from '../features/sessions/indexing.ts'
import { createIndexingStore } from '../features/sessions/indexing-store.ts'
import { createMemory, createSessions, createTranscripts } from '../features/sessions/service.ts'
import { createSessionStore, keepRecent } from '../features/sessions/store.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'

interface SessionNeeds {
  readonly jobs: Jobs
  readonly budget: MemoryBudget
}

/** Wires sessions: what a turn remembers, and what people and programs read of it. */
export function openSessions(adapters: Adapters, { jobs, budget }: SessionNeeds) {
  const { config, clock, log, db, scans: reader, turnIndex: index, shared } = adapters
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
  const service = createSessions({ store })
  const transcripts = createTranscripts({ store: createTranscriptStore(db), sessions: store })
  const conversations = createConversations({
    store: createConversationStore({ db, reader, index }),
    index,
  })
  return {
    /** What people have said. */
    talks: { removal: store.removal, forget: store.forget, ownerOf: store.ownerOf },
    branches: createBranches({
      store: createBranchStore(db),
      conversations,
      sessions: service,
      clock,
      onCopied: () => jobs.run('index conversations', indexing.run),
    }),
    memory: createMemory({ store }),
    folding: createFolding({ store, clock, jobs, leases, log, budget }),
    service,
    transcripts,
    conversations,
    exportSession: createSessionExport({ page: transcripts.page, head: conversations.read }),
  }
}

interface DetachedNeeds {
  readonly agent: Pick<Agent, 'openTurn'>
  readonly sessions: ReturnType<typeof openSessions>
  readonly jobs: Jobs
}

const SETTLE_EVERY_MS = 10_000

/** Wires turns that go on when their reader leaves. */
export function openDetached(adapters: Adapters, { agent, sessions, jobs }: DetachedNeeds) {
  const { clock, log, db, shared } = adapters
  const { leases, announcer } = shared
  const detached = createDetached({
    store: createDetachedStore(db),
    sessions: sessions.talks,
    beginning,
    agent,
    clock,
    log,
    jobs,
    leases,
    announcer,
  })
  sessions.service.onRemoved(detached.endSession)
  jobs.run('interrupt turns', detached.settle)
  jobs.every('interrupt turns', SETTLE_EVERY_MS, detached.settle)
  return detached
}
