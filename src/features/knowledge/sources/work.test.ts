import { expect, test } from 'bun:test'
import { createLocalState } from '../../../storage/local-state.ts'
import { ScanFailure } from './failure.ts'
import type { SourceRow } from './row.ts'
import { createSourceWork, type WorkOptions } from './work.ts'

test('a file that is to be read again while its failure is being noted is read again', async () => {
  const row = { id: 's', tenant_id: 't', kind: 'file', state: 'queued', attempts: 0 }
  let source = { ...row, due_at: 0, spooled_until: null } as unknown as SourceRow
  const noted = Promise.withResolvers<void>()
  const seen = Promise.withResolvers<void>()
  const readTwice = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  let reads = 0
  const work = createSourceWork({
    store: {
      waiting: async () => [],
      spooled: async () => [],
      requeue: async () => {},
      due: async () => (source.due_at === null ? [] : [source]),
      // The work that has failed looks once more what is left of its source.
      async row() {
        if (source.state === 'failed') {
          noted.resolve()
          await seen.promise
        }
        return source
      },
      async failed() {
        source = { ...source, state: 'failed', due_at: null, spooled_until: 1 }
      },
    },
    ingest: {
      async run() {
        if (++reads === 1) throw new ScanFailure('budget')
        source = { ...source, state: 'ready', due_at: null }
        readTwice.resolve()
      },
    },
    documents: { sweep: async () => {}, discard: async () => {} },
    spool: { found: [], has: () => true, remove() {} },
    scans: { forget: async () => {} },
    telling: {
      failed: (_told: unknown, _error: unknown, _gone: unknown, store: () => unknown) => store(),
    },
    jobs: { run: (_name: string, job: (signal: AbortSignal) => unknown) => void job(signal) },
    shared: {
      ...createLocalState({ steady: () => 0 }),
      isAlone: true,
      files: { remove: async () => {} },
    },
    clock: { now: () => 1, iso: () => '', steady: () => 0 },
    meters: { sourceEnded() {} },
    log: { warn() {}, error() {} },
  } as unknown as WorkOptions)
  work.wake()
  await noted.promise
  source = { ...source, state: 'queued', due_at: 0, spooled_until: null }
  await work.startDue()
  seen.resolve()
  await readTwice.promise
  expect(reads).toBe(2)
})
