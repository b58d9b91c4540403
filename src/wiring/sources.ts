import { MINUTE_MS } from '../core/clock.ts'
import { createSourceArchive } from '../features/knowledge/sources/archive.ts'
import { createSourceArchiveStore } from '../features/knowledge/sources/archive-store.ts'
import { createIngest } from '../features/knowledge/sources/ingest.ts'
import { createPages } from '../features/knowledge/sources/pages.ts'
import { createReading } from '../features/knowledge/sources/reading.ts'
import { createSources } from '../features/knowledge/sources/service.ts'
import { createSourceStore } from '../features/knowledge/sources/store.ts'
import { createSourceWork, removeAbandoned } from '../features/knowledge/sources/work.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'

/** How often the job looks for sources that are due. */
const LOOK_EVERY_MS = 1_000

export type OpenedSources = ReturnType<typeof openSources>

interface SourceNeeds {
  readonly kb: Knowledge
  readonly jobs: Jobs
}

/** Wires sources, the files and pages that become documents, and the jobs that read them. */
export function openSources(adapters: Adapters, { kb, jobs }: SourceNeeds) {
  const { config, live, clock, log, db, shared, parser, egress, spool, metrics } = adapters
  const { docsMax, docBytesMax } = kb.limits
  const documents = kb.parts
  const store = createSourceStore(db)
  const fileBytesMax = config.MB_KB_MAX_FILE_MB * 1024 * 1024
  const pages = createPages({ fetchFor: egress.fetchFor, spool, clock, fileBytesMax })
  const read = createReading({ parser, spool, clock, docBytesMax })
  const ingest = createIngest({ store, documents, spool, pages, read, clock })
  const { meters } = metrics
  const work = createSourceWork({
    store,
    documents,
    spool,
    ingest,
    jobs,
    shared,
    clock,
    log,
    meters,
  })
  jobs.every('start sources', LOOK_EVERY_MS, work.startDue)
  const removeOld = () => removeAbandoned({ documents, shared })
  jobs.every('remove abandoned documents', MINUTE_MS, removeOld)
  work.wake()
  const limits = {
    docs_max: config.MB_KB_MAX_DOCS,
    doc_kb_max: config.MB_KB_MAX_DOC_KB,
    file_mb_max: config.MB_KB_MAX_FILE_MB,
  }
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const service = createSources({
    store,
    work,
    documents,
    spool,
    files: shared.files,
    clock,
    log,
    allow,
    limits,
  })
  const { addUrl } = service
  const archive = createSourceArchiveStore(db)
  return {
    service,
    archive: createSourceArchive({
      archive,
      store,
      documents,
      work,
      addUrl,
      clock,
      docsMax,
      allow,
    }),
    startDue: work.startDue,
    open: work.open,
  }
}
