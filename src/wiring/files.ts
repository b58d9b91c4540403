import { createFiles } from '../features/files/service.ts'
import { createFileStore } from '../features/files/store.ts'
import { createTurnFiles } from '../features/files/turn-files.ts'
import { createKeepFile } from '../features/knowledge/files/keep.ts'
import { createFileSearch } from '../features/knowledge/files/search.ts'
import { createFileTextStore } from '../features/knowledge/files/store.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'
import type { OpenedSources } from './sources.ts'

/** How often the number of files is counted, for /metrics. */
const COUNT_EVERY_MS = 30_000

interface FileNeeds {
  readonly kb: Knowledge
  readonly sources: OpenedSources
  readonly jobs: Jobs
}

export type OpenedFiles = ReturnType<typeof openFiles>

/** Wires files that people talk about. */
export function openFiles(adapters: Adapters, { kb, sources, jobs }: FileNeeds) {
  const { config, clock, log, db, reader, vectors, words, embedding, reranker } = adapters
  const { meters, page } = adapters.metrics
  const { calibrationOf } = kb
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
  const { receiveFile: receive, discard, get } = sources.service
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
  const hours = config.MB_FILE_HOURS
  const service = createFiles({ store, texts, receive, discard, keep, clock, hours })
  let living = 0
  if (page !== null) {
    const count = async () => {
      living = await store.countAll(clock.now())
    }
    jobs.run('count files', count)
    jobs.every('count files', COUNT_EVERY_MS, count)
  }
  return {
    service,
    inTurns: createTurnFiles({ store, texts, search, use: service.use, clock, log }),
    living: () => living,
  }
}
