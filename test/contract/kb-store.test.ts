import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { KB_DOCS_MAX } from '../../src/core/limits/contract.ts'
import { everything } from '../../src/features/knowledge/collections/access.ts'
import { createStaleStore } from '../../src/features/knowledge/index/stale-store.ts'
import { createKbStore, type NewDoc } from '../../src/features/knowledge/index/store.ts'
import { createTitleStore } from '../../src/features/knowledge/index/title-store.ts'
import { sql } from '../../src/storage/db.ts'
import { openIndexes } from '../support/indexes.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

let folder: TempFolder
let open: Awaited<ReturnType<typeof openIndexes>>
/** What writes of tenant b wait for. */
let held: Promise<void>
/** Done before anybody hears that a write has failed. */
let onFailure: () => Promise<unknown>
let store: ReturnType<typeof createKbStore>
beforeEach(async () => {
  folder = tempFolder()
  open = await openIndexes(folder.path)
  const { db, reader, vectors, words } = open
  await db.batch([
    sql`INSERT INTO tenant (id, created_at) VALUES ('a', '')`,
    sql`INSERT INTO tenant (id, created_at) VALUES ('b', '')`,
  ])
  held = Promise.resolve()
  onFailure = async () => {}
  const batch: typeof db.batch = async (statements) => {
    if (statements[0]?.args.includes('b')) await held
    try {
      return await db.batch(statements)
    } catch (error) {
      await onFailure()
      throw error
    }
  }
  store = createKbStore({
    db: { ...db, batch },
    reader,
    scans: reader,
    vectors,
    words,
    docsMax: KB_DOCS_MAX,
  })
})
afterEach(async () => {
  await open[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

let docs = 0
function doc(tenantId: string): NewDoc {
  const id = `doc${++docs}`
  const place = { page: null, heading: null }
  const chunk = { text: id, vector: Float32Array.of(1, 0), terms: ['term'], ...place }
  const typed = { source_id: null, part: null, parts: null }
  const kept = { id, title: id, char_count: 4, chunk_count: 1, created_at: '2026-11-21', ...typed }
  return { tenantId, stage: 'live', doc: kept, model: 'm', chunks: [chunk] }
}

describe('documents that are stored at the same time', () => {
  test('documents that are stored at the same time have numbers of their own', async () => {
    for (let i = 0; i < KB_DOCS_MAX; i++) expect(await store.insert(doc('a'))).toBe(true)
    const gate = Promise.withResolvers<void>()
    held = gate.promise
    const refused = store.insert(doc('a'))
    const underWay = store.insert(doc('b'))
    expect(await refused).toBe(false)
    const next = store.insert(doc('b'))
    gate.resolve()
    expect(await Promise.all([underWay, next])).toEqual([true, true])
    expect(await store.count('b')).toBe(2)
    expect(await store.count('a')).toBe(KB_DOCS_MAX)
  })

  test('a document too many is refused even when another is deleted right afterwards', async () => {
    const first = doc('a')
    await store.insert(first)
    for (let i = 1; i < KB_DOCS_MAX; i++) await store.insert(doc('a'))
    onFailure = () => store.remove(everything('a'), first.doc.id)
    expect(await store.insert(doc('a'))).toBe(false)
    expect(await store.insert(doc('a'))).toBe(true)
  })
})

test('whoever renames again and again does not keep others from being indexed', async () => {
  const [busy, other, again] = [doc('a'), doc('b'), doc('a')]
  for (const one of [busy, again, other]) await store.insert(one)
  const titles = createTitleStore(open.db)
  const rename = ({ tenantId, doc: { id } }: NewDoc, title: string, now: number) =>
    titles.rename(everything(tenantId), id, title, now)
  const next = async () => (await createStaleStore(open).nextStale('m', 9))?.title
  await rename(busy, 'busy', 1)
  await rename(other, 'other', 2)
  await rename(again, 'again', 3)
  expect(await next()).toBe('busy')
  await rename(busy, 'busier', 4)
  expect(await next()).toBe('other')
})
