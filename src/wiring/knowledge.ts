import { createAccess, type KbView } from '../features/knowledge/collections/access.ts'
import { createCollectionStore } from '../features/knowledge/collections/store.ts'
import { createArchive } from '../features/knowledge/index/archive.ts'
import { createArchiveStore } from '../features/knowledge/index/archive-store.ts'
import { createPartStore } from '../features/knowledge/index/part-store.ts'
import { createPrepare } from '../features/knowledge/index/prepare.ts'
import { createReembed } from '../features/knowledge/index/reembed.ts'
import { createStaleStore } from '../features/knowledge/index/stale-store.ts'
import { createKbStore } from '../features/knowledge/index/store.ts'
import { createTitleStore } from '../features/knowledge/index/title-store.ts'
import { createLibrary } from '../features/knowledge/library/service.ts'
import { createLibraryStore } from '../features/knowledge/library/store.ts'
import { createCalibration } from '../features/knowledge/search/calibration.ts'
import {
  addCitations,
  type Citation,
  createCitationPrune,
  createCitationWrite,
  keyOfCitation,
} from '../features/knowledge/search/citation-store.ts'
import { createSearch } from '../features/knowledge/search/search.ts'
import { createKb, createSearchTool } from '../features/knowledge/service.ts'
import { createListStore } from '../features/knowledge/sources/list-store.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWriteBehindSums } from '../jobs/write-behind.ts'
import type { Adapters } from './adapters.ts'

export type Knowledge = ReturnType<typeof openKnowledge>

/** The knowledge base with its two indexes. */
export function openKnowledge(adapters: Adapters, jobs: Jobs) {
  const { live, clock, log, db, reader, scans, vectors, words, nextNum } = adapters
  const { embedding, reranker, shared, metrics } = adapters
  const limits = {
    get docsMax() {
      return live.config().MB_KB_MAX_DOCS
    },
    get docBytesMax() {
      return live.config().MB_KB_MAX_DOC_KB * 1024
    },
  }
  const store = createKbStore({
    db,
    reader,
    scans,
    vectors,
    words,
    nextNum,
    get docsMax() {
      return limits.docsMax
    },
  })
  const calibrationOf = createCalibration({ store, vectors, clock })
  const search = createSearch({
    store,
    embedding,
    vectors,
    words,
    calibrationOf,
    reranker,
    meters: metrics.meters,
    log,
  })
  const prepare = createPrepare({ embedding, clock })
  const citations = createWriteBehindSums<Citation>({
    clock,
    log,
    name: 'citations',
    keyOf: keyOfCitation,
    addTo: addCitations,
    write: createCitationWrite(db),
  })
  const archiveStore = createArchiveStore({ db, reader: scans })
  const progress = (view: KbView) => archiveStore.progress(view, embedding.current.shared.lastId())
  const staleStore = createStaleStore({ db, vectors, words })
  const { leases } = shared
  const reembed = createReembed({ store: staleStore, embedding, leases, clock, log })
  const reindex = () => jobs.run('embed anew', reembed.run)
  const titles = createTitleStore(db)
  const service = createKb({
    store,
    prepare,
    limits,
    search,
    clock,
    citations,
    progress,
    titles,
    reindex,
  })
  const collections = createCollectionStore(db)
  const library = createLibrary({
    store: createLibraryStore(scans),
    docs: store,
    sources: createListStore(db),
    clock,
    citations,
  })
  return {
    service,
    library,
    collections,
    access: createAccess(collections),
    citations,
    pruneCitations: createCitationPrune(db, clock),
    limits,
    calibrationOf,
    parts: createPartStore({
      db,
      vectors,
      words,
      nextNum,
      store,
      prepare,
      get docsMax() {
        return limits.docsMax
      },
    }),
    archive: createArchive({ store, archive: archiveStore, limits, clock }),
    reembed,
    reindex,
    searchTool: createSearchTool(service.retrieve),
  }
}
