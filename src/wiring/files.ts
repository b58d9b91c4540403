import { createFiles } from '../features/files/service.ts'
import { createFileStore } from '../features/files/store.ts'
import { createTurnFiles } from '../features/files/turn-files.ts'
import { createKeepFile } from '../features/knowledge/files/keep.ts'
import { createFileSearch } from '../features/knowledge/files/search.ts'
import { createFileTextStore } from '../features/knowledge/files/store.ts'
import { counted } from '../jobs/counted.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'
import type { OpenedSources } from './sources.ts'

export type OpenedFiles = ReturnType<typeof openFiles>

/** Wires files that people talk about. */
export function openFiles(adapters: Adapters, kb: Knowledge, sources: OpenedSources, jobs: Jobs) {
  const { live, clock, log, db, reader, vectors, words, embedding, reranker } = adapters
  const { meters, page } = adapters.metrics
  const { calibrationOf } = kb
  const { target: targetOf } = kb.access
  const { leases } = adapters.shared
  const store = createFileStore(db)
  const texts = createFileTextStore({ db, reader })
  const search = createFileSearch({
    texts,
    embedding,
    vectors,
    words,
    calibrationOf,
    reranker,
    meters,
    log,
  })
  const { receiveFile: receive, discard, readAgain, get } = sources.service
  const keep = createKeepFile({
    texts,
    archive: kb.archive,
    sources: sources.archive,
    get,
    leases,
    clock,
    onDocuments() {
      jobs.run('remove old documents', sources.archive.sweep)
      jobs.run('embed anew', kb.reembed.run)
    },
  })
  const hours = () => live.config().MB_FILE_HOURS
  const service = createFiles({
    store,
    texts,
    receive,
    discard,
    readAgain,
    keep,
    targetOf,
    clock,
    hours,
  })
  const count = () => store.countAll(clock.now())
  return {
    service,
    inTurns: createTurnFiles({ store, texts, search, use: service.use, clock, log }),
    living: page === null ? () => 0 : counted(jobs, 'count files', count),
  }
}
