import type { Embedder } from '../channels/ports/embedder.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { createSharedEmbedder } from '../features/kb/embedding.ts'
import { createReembed } from '../features/kb/reembed.ts'
import { createSearch } from '../features/kb/search.ts'
import { createKb } from '../features/kb/service.ts'
import { createStaleStore } from '../features/kb/stale-store.ts'
import { createKbStore } from '../features/kb/store.ts'
import { searchTool } from '../features/kb/tool.ts'
import type { Db } from '../storage/db.ts'
import type { ReadThread } from '../storage/sqlite/read-thread.ts'
import { openVectorIndex } from '../storage/sqlite/vectors.ts'
import { createWordIndex } from '../storage/sqlite/words.ts'

export interface KnowledgeOptions {
  readonly db: Db
  readonly reader: ReadThread
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Logger
}

export type Knowledge = Awaited<ReturnType<typeof openKnowledge>>

/** The knowledge base with its two indexes. */
export async function openKnowledge(options: KnowledgeOptions) {
  const { db, reader, clock, log } = options
  const embedder = createSharedEmbedder(options.embedder, clock)
  const vectors = await openVectorIndex(db, reader)
  const words = createWordIndex(reader)
  const store = createKbStore({ db, reader, vectors, words })
  const search = createSearch({ store, embedder, vectors, words })
  const service = createKb({ store, embedder, search, clock })
  return {
    service,
    reembed: createReembed({
      store: createStaleStore({ db, vectors, words }),
      embedder,
      clock,
      log,
    }),
    toolsFor: searchTool(service.retrieve),
  }
}
