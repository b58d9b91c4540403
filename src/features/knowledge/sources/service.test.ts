import { expect, test } from 'bun:test'
import { systemClock } from '../../../core/clock.ts'
import { appError } from '../../../core/errors.ts'
import { everything, missingCollection } from '../collections/access.ts'
import { noUploader, type SourceRow } from './row.ts'
import { createSources, type SourcesParts } from './service.ts'

/** The service on a spool and shared files that note what they remove. */
function open(store: Partial<SourcesParts['store']>, removeFile = async () => {}) {
  const removed: string[] = []
  const logged: string[] = []
  const parts = {
    store: { counts: async () => ({ waiting: 0, refreshed: 0 }), ...store },
    work: { wake() {} },
    spool: {
      write: async () => 3,
      map: () => Buffer.from('abc'),
      remove: () => removed.push('spool'),
    },
    files: {
      keep: async () => {},
      remove: () => {
        removed.push('files')
        return removeFile()
      },
    },
    clock: systemClock(),
    log: { warn: (event: string) => logged.push(event) },
    limits: { file_mb_max: 1 },
  } as unknown as SourcesParts
  const form = { title: 't', fileName: 'a.txt', contentType: 'text/plain' }
  const sources = createSources(parts)
  const upload = (targetOf?: () => Promise<string>) =>
    sources.upload(
      noUploader('tenant'),
      async (save) => {
        await save((async function* () {})())
        return form
      },
      targetOf,
    )
  return { sources, upload, removed, logged }
}

const away = () => Promise.reject(new Error('the database is away'))

test('the file of a source that was stored stays when the source cannot be read', async () => {
  const { upload, removed } = open({ insert: async () => true, get: away })
  await expect(upload()).rejects.toThrow('the database is away')
  expect(removed).toEqual([])
})

test('the file stays when nobody can tell whether its source was stored', async () => {
  const { upload, removed } = open({ insert: away, row: away })
  await expect(upload()).rejects.toThrow('the database is away')
  expect(removed).toEqual([])
})

test('the file goes when its source was not stored', async () => {
  const { upload, removed } = open({ insert: away, row: async () => null })
  await expect(upload()).rejects.toThrow('the database is away')
  expect(removed).toEqual(['spool', 'files'])
})

test('a file that cannot be removed does not replace the reason of a refusal', async () => {
  const counts = async () => {
    throw appError('file_empty')
  }
  const { upload, logged } = open({ counts }, away)
  await expect(upload()).rejects.toMatchObject({ code: 'file_empty' })
  expect(logged).toEqual(['file not removed'])
})

test('a file into a collection that is deleted before it is stored is a 404', async () => {
  const { upload, removed } = open({ insert: async () => false, row: async () => null })
  const targets = [async () => 'shop', () => Promise.reject(missingCollection())]
  const targetOf = () => (targets.shift() ?? away)()
  await expect(upload(targetOf)).rejects.toMatchObject({ code: 'not_found' })
  expect(removed).toEqual(['spool', 'files'])
})

test('a page that is deleted before its check is noted is a 404', async () => {
  const page = { id: 'p', kind: 'url', collection_id: 'none' } as SourceRow
  const rows = [page, null]
  const { sources } = open({
    row: async () => rows.shift() ?? null,
    askForCheck: async () => false,
  })
  const asked = sources.refresh(everything('tenant'), 'p')
  await expect(asked).rejects.toMatchObject({ code: 'not_found' })
})
