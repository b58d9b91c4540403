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

/** How often the job looks for sources that are due. */
const LOOK_EVERY_MS = 1_000

/** Wires sources, the files and pages that become documents, and the jobs that read them. */
export function openSources(adapters: Adapters, jobs: Jobs) {
  const { config, live, clock, log, db, shared: state, kb, parser, egress, spool } = adapters
  const fileBytesMax = config.MB_KB_MAX_FILE_MB * 1024 * 1024
  const { docBytesMax } = kb.limits
  const store = createSourceStore(db)
  const shared = { store, documents: kb.parts, spool, clock }
  const pages = createPages({ ...shared, fetchFor: egress.fetchFor, fileBytesMax })
  const read = createReading({ parser, spool, clock, docBytesMax })
  const ingest = createIngest({ ...shared, pages, read })
  const { meters } = adapters.metrics
  const work = createSourceWork({ ...shared, ingest, jobs, shared: state, log, meters })
  const removeOld = () => removeAbandoned({ documents: kb.parts, shared: state })
  jobs.every('start sources', LOOK_EVERY_MS, work.startDue)
  jobs.every('remove abandoned documents', MINUTE_MS, removeOld)
  work.wake()
  const limits = {
    docs_max: config.MB_KB_MAX_DOCS,
    doc_kb_max: config.MB_KB_MAX_DOC_KB,
    file_mb_max: config.MB_KB_MAX_FILE_MB,
  }
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const service = createSources({ ...shared, files: state.files, work, allow, limits, log })
  const archive = createSourceArchiveStore(db)
  const { addUrl } = service
  const { docsMax } = kb.limits
  return {
    ...service,
    archive: createSourceArchive({ ...shared, archive, work, addUrl, docsMax, allow }),
    startDue: work.startDue,
    open: work.open,
  }
}
