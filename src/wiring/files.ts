import { createFiles } from '../features/files/service.ts'
import { createFileStore } from '../features/files/store.ts'
import { createTurnFiles } from '../features/files/turn-files.ts'
import { createKeepFile } from '../features/knowledge/files/keep.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { openSources } from './sources.ts'

/** How often the number of files is counted, for /metrics. */
const COUNT_EVERY_MS = 30_000

/** Wires files that people talk about. */
export function openFiles(
  { config, clock, log, db, kb, shared, metrics }: Adapters,
  sources: ReturnType<typeof openSources>,
  jobs: Jobs,
) {
  const store = createFileStore(db)
  const { texts, search } = kb.files
  const keep = createKeepFile({
    texts,
    archive: kb.archive,
    sources: sources.archive,
    get: sources.get,
    leases: shared.leases,
    clock,
    onDocuments() {
      jobs.run('remove old documents', sources.archive.sweep)
      jobs.run('embed anew', kb.reembed.run)
    },
  })
  const { receiveFile: receive, discard } = sources
  const hours = config.MB_FILE_HOURS
  const service = createFiles({ store, texts, receive, discard, keep, clock, hours })
  let living = 0
  if (metrics.page !== null) {
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
