import type { Config } from '../config.ts'
import { errorFields } from '../core/log.ts'
import type { MemoryBudget } from '../core/memory-budget.ts'
import { personSubject } from '../core/subject.ts'
import { createDetached } from '../features/agent/detached.ts'
import { createDetachedStore } from '../features/agent/detached-store.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import type { Agent } from '../features/agent/service.ts'
import { createPictureStore } from '../features/files/picture-store.ts'
import { createPictures } from '../features/files/pictures.ts'
import { createFileStore } from '../features/files/store.ts'
import type { TurnFiles } from '../features/files/turn-files.ts'
import { forgetSubject } from '../features/memories/store.ts'
import { beginning } from '../features/sessions/access.ts'
import { createBranchCopies } from '../features/sessions/branch-copy-store.ts'
import { createBranchStore } from '../features/sessions/branch-store.ts'
import { createBranches } from '../features/sessions/branches.ts'
import { createCitations } from '../features/sessions/citation-store.ts'
import { createConversationStore } from '../features/sessions/conversation-store.ts'
import { createConversations } from '../features/sessions/conversations.ts'
import { createDeletion, hiding } from '../features/sessions/deletion-store.ts'
import { createSessionExport } from '../features/sessions/export.ts'
import { createFolding } from '../features/sessions/folding.ts'
import { createIndexing } from '../features/sessions/indexing.ts'
import { createIndexingStore } from '../features/sessions/indexing-store.ts'
import { keepRecent } from '../features/sessions/recent.ts'
import { createMemory, createSessions, createTranscripts } from '../features/sessions/service.ts'
import { createSessionStore } from '../features/sessions/store.ts'
import { createTitleStore } from '../features/sessions/title-store.ts'
import { createTitles } from '../features/sessions/titles.ts'
import { createTranscriptStore } from '../features/sessions/transcript-store.ts'
import type { Jobs } from '../jobs/runner.ts'
import { sql } from '../storage/db.ts'
import type { Adapters } from './adapters.ts'

/** A turn is found before that, too: a search indexes what waits. */
const INDEX_EVERY_MS = 10_000

export type OpenedSessions = ReturnType<typeof openSessions>

/** Wires sessions: what a turn remembers, and what people and programs read of it. */
export function openSessions(
  adapters: Adapters,
  jobs: Jobs,
  openTurns: OpenTurns,
  budget: MemoryBudget,
) {
  const { live, clock, log, db, scans: reader, turnIndex: index, shared } = adapters
  const keepsTranscript = () => live.config().MB_TRANSCRIPT
  const stored = createSessionStore(db, { keepsTranscript })
  // Where another process may store the next turn, each turn reads the session from the database.
  const store = shared.isAlone ? keepRecent(stored) : stored
  let cleared: Config | null = null
  /** Deletes what was kept while transcripts were on; once after each change of the settings. */
  async function forgetFolded(signal?: AbortSignal): Promise<void> {
    const config = live.config()
    if (config.MB_TRANSCRIPT || config === cleared) return
    while (!signal?.aborted && (await store.forgetFolded()) > 0);
    if (!signal?.aborted) cleared = config
  }
  const { leases } = shared
  const indexing = createIndexing({ store: createIndexingStore({ db, index }), leases, clock })
  jobs.run('index conversations', indexing.run)
  jobs.every('index conversations', INDEX_EVERY_MS, indexing.run)
  jobs.run('forget transcripts', forgetFolded)
  const service = createSessions({ store })
  const turns = createTranscriptStore(db)
  const transcripts = createTranscripts({ store: turns, sessions: store })
  const talkStore = createConversationStore({ db, reader, index })
  const conversations = createConversations({
    store: talkStore,
    index,
    indexing,
  })
  const titles = createTitles({ store: createTitleStore({ db, index }), jobs, log, openTurns })
  service.onRemoved(titles.endSession)
  const removal = (tenantId: string, userId: string) => [
    ...hiding(sql`user_id = ${userId} AND tenant_id = ${tenantId}`),
    forgetSubject(tenantId, personSubject(userId)),
  ]
  const pictures = createPictures({
    store: createPictureStore(db, reader),
    files: createFileStore(db),
    sessions: store,
    clock,
    isKeeping: keepsTranscript,
  })
  service.onRemoved(pictures.sweep)
  const deletion = createDeletion(db)
  /** Deletes what is hidden, and the pictures of it. What cannot go now does at a later call. */
  async function clearGone(signal?: AbortSignal): Promise<void> {
    const gone = await deletion.gone()
    if (gone.length > 0) store.forget()
    for (const { tenant_id, id } of gone) await deletion.clear(tenant_id, id, signal)
    for (const id of new Set(gone.map(({ tenant_id }) => tenant_id))) await pictures.sweep(id)
  }
  const branches = createBranches({
    store: createBranchStore(db),
    copies: createBranchCopies(db),
    deletion,
    leases,
    conversations,
    sessions: service,
    clock,
  })
  jobs.run('sweep branches', branches.sweep)
  jobs.run('delete talks', clearGone)
  return {
    titles,
    pictures,
    turns,
    /** Gives a conversation its title. */
    entitle: talkStore.rename,
    /** What people have said. */
    talks: {
      removal,
      removalOfAll: (userId: string) => hiding(sql`user_id = ${userId}`),
      /** As `clearGone`. The talks are hidden: whoever waits hears of no fault. */
      clear: () => clearGone().catch((error) => log.error('talks not deleted', errorFields(error))),
      ownerOf: store.ownerOf,
    },
    branches,
    memory: createMemory({ store }),
    folding: createFolding({ store, clock, jobs, leases, log, budget }),
    service,
    transcripts,
    conversations,
    /** Deletes half branches, hidden talks, pictures of none, and turns that are not kept. */
    async prune(): Promise<void> {
      await branches.sweep()
      await clearGone()
      await Promise.all([pictures.prune(), forgetFolded()])
    },
    citations: createCitations(reader, clock),
    exportSession: createSessionExport({ turnsOf: transcripts.all, head: conversations.read }),
  }
}

const SETTLE_EVERY_MS = 10_000

/** Wires turns that go on when their reader leaves. */
export function openDetached(
  adapters: Adapters,
  agent: Agent,
  sessions: OpenedSessions,
  files: Pick<TurnFiles, 'named'>,
  jobs: Jobs,
) {
  const { clock, log, db, shared } = adapters
  const { leases, announcer, turnOrder } = shared
  const detached = createDetached({
    store: createDetachedStore(db),
    sessions: sessions.talks,
    pictures: sessions.pictures,
    files,
    beginning,
    agent,
    clock,
    log,
    jobs,
    leases,
    announcer,
  })
  sessions.service.onRemoved(detached.endSession)
  turnOrder.onGivenUp(detached.giveUp)
  jobs.run('interrupt turns', detached.settle)
  jobs.every('interrupt turns', SETTLE_EVERY_MS, detached.settle)
  return detached
}
