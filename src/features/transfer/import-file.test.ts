import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { timeSlice } from '../../core/time-slice.ts'
import { createFileImport, type FileImportParts, type FileValue } from './import-file.ts'

const BY = { tenantId: 'tenant', userId: null, keyId: 'key' }
const NAMES = ['a', 'b', 'c']

/** An import of three documents, whose lease is lost when `at` of them are stored. */
async function importLosing(at: number) {
  const lost = new AbortController()
  const stored: string[] = []
  const parts = {
    documents: {
      docs: {
        heads: async () => [],
        async add(_: string, { title }: { title: string }) {
          stored.push(title)
          if (stored.length === at) lost.abort(new Error('another server does this now'))
        },
      },
      sources: { known: async () => [] },
      clock: systemClock(),
      log: { error() {} },
    },
    importConfig: async () => ({
      personas: 0,
      apps: 0,
      settings: false,
      mcp_servers: 0,
      prompts: 0,
    }),
    onDocuments() {},
    loopSlice: () => timeSlice(() => 0),
    leases: {
      async hold(_: string, __: AbortSignal, work: (held: AbortSignal) => Promise<unknown>) {
        await work(lost.signal)
        return true
      },
    },
  } as unknown as FileImportParts
  async function* values(): AsyncGenerator<FileValue> {
    yield { field: 'format_version', value: 1, bytes: 1 }
    for (const title of NAMES) {
      yield { field: 'documents', value: { title, text: 'text' }, bytes: 1 }
    }
  }
  const upload = { confirm: async () => {}, hold() {}, onImport() {} }
  if (at === 0) lost.abort(new Error('another server does this now'))
  const result = createFileImport(parts)(BY, 'merge', values(), upload)
  return { result, stored }
}

test('an import stops when its lease is lost, and reports what it has stored', async () => {
  const { result, stored } = await importLosing(1)
  expect(await result).toMatchObject({ complete: false, imported: { documents: 1 } })
  expect(stored).toEqual(['a'])
})

test('an import whose lease is lost before the first document stores nothing', async () => {
  const { result, stored } = await importLosing(0)
  await expect(result).rejects.toMatchObject({ code: 'import_running' })
  expect(stored).toEqual([])
})

test('an import that keeps its lease is complete', async () => {
  const { result, stored } = await importLosing(4)
  expect(await result).toMatchObject({ complete: true, imported: { documents: 3 } })
  expect(stored).toEqual(NAMES)
})
