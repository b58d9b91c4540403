import { MINUTE_MS } from '../core/clock.ts'
import { createCollections } from '../features/knowledge/collections/service.ts'
import { createSourceArchive } from '../features/knowledge/sources/archive.ts'
import { createSourceArchiveStore } from '../features/knowledge/sources/archive-store.ts'
import { createIngest } from '../features/knowledge/sources/ingest.ts'
import { createPages } from '../features/knowledge/sources/pages.ts'
import { createReading } from '../features/knowledge/sources/reading.ts'
import { createSources } from '../features/knowledge/sources/service.ts'
import { createSourceStore } from '../features/knowledge/sources/store.ts'
import { createSourceTelling } from '../features/knowledge/sources/telling.ts'
import { createVersionStore } from '../features/knowledge/sources/version-store.ts'
import { createSourceWork, removeAbandoned } from '../features/knowledge/sources/work.ts'
import type { Outbox } from '../features/webhooks/outbox.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'
import type { OpenedScans } from './scans.ts'

/** How often the job looks for sources that are due. */
const LOOK_EVERY_MS = 1_000

interface SourceNeeds {
  readonly kb: Knowledge
  readonly scans: OpenedScans
  readonly jobs: Jobs
  readonly outbox: Outbox
}

export type OpenedSources = ReturnType<typeof openSources>

/** Wires sources, the files and pages that become documents, and the jobs that read them. */
export function openSources(adapters: Adapters, { kb, scans, jobs, outbox }: SourceNeeds) {
  const { live, clock, log, db, shared, parser, egress, spool, metrics } = adapters
  const docBytesMax = () => kb.limits.docBytesMax
  const documents = kb.parts
  const store = createSourceStore(db)
  const versions = createVersionStore(db)
  const fileBytesMax = () => live.config().MB_KB_MAX_FILE_MB * 1024 * 1024
  const pages = createPages({ fetchFor: egress.fetchFor, spool, clock, fileBytesMax })
  const read = createReading({ parser, spool, scans, clock, docBytesMax })
  const telling = createSourceTelling(outbox)
  const ingest = createIngest({
    store,
    versions,
    documents,
    spool,
    pages,
    read,
    scans,
    telling,
    clock,
  })
  const { meters } = metrics
  const work = createSourceWork({
    store,
    documents,
    spool,
    ingest,
    scans,
    jobs,
    shared,
    clock,
    log,
    meters,
    telling,
  })
  jobs.every('start sources', LOOK_EVERY_MS, work.startDue)
  const removeOld = () => removeAbandoned({ documents, shared })
  jobs.every('remove abandoned documents', MINUTE_MS, removeOld)
  work.wake()
  const limits = () => ({
    docs_max: live.config().MB_KB_MAX_DOCS,
    doc_kb_max: live.config().MB_KB_MAX_DOC_KB,
    file_mb_max: live.config().MB_KB_MAX_FILE_MB,
  })
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const service = createSources({
    store,
    versions,
    work,
    documents,
    spool,
    files: shared.files,
    clock,
    log,
    takesPictures: scans.isWanted,
    allow,
    limits,
    reindex: kb.reindex,
  })
  const collections = createCollections({
    store: kb.collections,
    access: kb.access,
    clock,
    endWork: work.end,
    sweep: () => jobs.run('remove old documents', documents.sweep),
  })
  const { addUrl } = service
  const archive = createSourceArchiveStore(db)
  return {
    service,
    collections,
    archive: createSourceArchive({
      archive,
      store,
      documents,
      work,
      addUrl,
      clock,
      allow,
    }),
    startDue: work.startDue,
    prune: work.prune,
    open: work.open,
  }
}
