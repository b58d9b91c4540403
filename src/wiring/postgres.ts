import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { createSystemStore } from '../features/system/store.ts'
import { openConnection } from '../storage/postgres/connection.ts'
import { createReader, openPostgres, type PostgresOptions } from '../storage/postgres/db.ts'
import { migratePostgres, UnusableDatabase, untilAnswers } from '../storage/postgres/migrate.ts'
import { MIGRATIONS } from '../storage/postgres/migrations/index.ts'
import { openSharedState } from '../storage/postgres/shared-state.ts'
import { createTurnIndex } from '../storage/postgres/turn-words.ts'
import { createVectorGraph, knowsStrictOrder } from '../storage/postgres/vector-graph.ts'
import { createVectorIndex } from '../storage/postgres/vectors.ts'
import { createWordIndex } from '../storage/postgres/words.ts'
import type { Leases } from '../storage/shared-state.ts'
import type { OpenedStorage } from './opened-storage.ts'

export { UnusableDatabase } from '../storage/postgres/migrate.ts'

export interface PostgresNeeds {
  readonly clock: Clock
  /** Address of the database, perhaps that of a connection pooler. */
  readonly url: string
  /** Address without a pooler, for what poolers cannot do; null when none is configured. */
  readonly directUrl: string | null
  /** A name that only the server on this data folder has; null or absent: none is known. */
  readonly home?: () => string | null
  /** Most documents of a tenant. */
  readonly docsMax: number
  readonly log?: Logger | undefined
  readonly onAsked: PostgresOptions['onAsked']
}

/** Where tenants may have more documents, a search does not compare all vectors of a tenant. */
const EXACT_DOCS_MAX = 1_000

/** Connections that lists, sums and searches of people may use, beside those of retrieval. */
const SCANS_AT_ONCE = 4

/** Waits for the database, migrates it and opens it. Throws `UnusableDatabase`. */
export async function openPostgresStorage(needs: PostgresNeeds) {
  const { clock, url, directUrl, home, docsMax, log, onAsked } = needs
  await migratePostgres({ url: directUrl ?? url, clock, migrations: MIGRATIONS })
  if (directUrl !== null) await untilAnswers({ url, clock })
  const db = openPostgres({ url, clock, onAsked })
  const reader = createReader(db)
  const scans = createReader(db, SCANS_AT_ONCE)
  const hasGraphs = docsMax > EXACT_DOCS_MAX
  if (hasGraphs && !(await knowsStrictOrder(db)))
    throw new UnusableDatabase(
      `has an extension vector older than 0.8, which MB_KB_MAX_DOCS over ${EXACT_DOCS_MAX} needs`,
    )
  const connect = () => openConnection({ url: directUrl ?? url, clock })
  let leases: Leases | null = null
  const graph = hasGraphs
    ? createVectorGraph({ db, connect, clock, log, leases: () => leases })
    : null
  const opened: OpenedStorage = {
    db,
    async openShared(heard) {
      const shared = await openSharedState({
        db,
        clock,
        log: heard,
        directUrl,
        home: home?.() ?? null,
      })
      leases = shared.leases
      return shared
    },
    reader: { all: reader.all, close: async () => {} },
    scans: { all: scans.all, isSideBySide: true, close: async () => {} },
    vectors: createVectorIndex(reader, graph),
    words: createWordIndex(reader),
    turnIndex: createTurnIndex(scans),
    nextNum: () => db.next('kb_doc_num'),
  }
  return { opened, sealedSettings: createSystemStore(db).all }
}
