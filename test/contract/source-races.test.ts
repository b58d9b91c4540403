import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { everything, type KbView } from '../../src/features/knowledge/collections/access.ts'
import { createPartStore } from '../../src/features/knowledge/index/part-store.ts'
import { createKbStore } from '../../src/features/knowledge/index/store.ts'
import { createSourceStore, type NewSource } from '../../src/features/knowledge/sources/store.ts'
import {
  createVersionStore,
  dropOlder,
  endVersion,
  handOver,
} from '../../src/features/knowledge/sources/version-store.ts'
import { type Db, sql } from '../../src/storage/db.ts'
import { INDEX_ADAPTERS, type OpenIndexes } from '../support/indexes.ts'

const ALL = everything('a')
const AT = { now: 0, iso: '2026-11-23T08:00:00.000Z' }

/** The stores on a database in which something happens between a look and the write after it. */
function open({ db, vectors, words }: OpenIndexes, meanwhile?: () => Promise<unknown>) {
  const batch: Db['batch'] = async (statements) => {
    await meanwhile?.()
    return db.batch(statements)
  }
  const reader = { isSideBySide: false, all: async () => [] }
  const parts = { db: { ...db, batch }, vectors, words, docsMax: 10 }
  const docs = createKbStore({ ...parts, reader, scans: reader })
  const prepare = () => Promise.reject(new Error('nothing is added'))
  return {
    docs,
    parts: createPartStore({ ...parts, store: docs, prepare }),
    sources: createSourceStore(parts.db),
    versions: createVersionStore(db),
  }
}

type Stores = ReturnType<typeof open>

const source = (id: string, more: Partial<NewSource> = {}): NewSource => ({
  ...{ id, kind: 'file', title: id, is_named: 1, file_name: `${id}.md`, media_type: 'text/plain' },
  ...{ bytes: 1, url: null, refresh: null, collection_id: 'none', created_at: AT.iso, sha256: id },
  ...more,
})

async function addDoc({ docs }: Stores, id: string, of: string | null, stage: 'live' | 'new') {
  const entry = { vector: Float32Array.of(1, 0), terms: ['term'] }
  const number = of === null ? null : 1
  const place = { source_id: of, part: number, parts: number, created_at: AT.iso }
  const doc = { ...place, id, title: id, char_count: 4, chunk_count: 1 }
  const chunks = [{ ...entry, text: id, page: null, heading: null }]
  expect(await docs.insert({ tenantId: 'a', stage, doc, model: 'm', chunks })).toBe(true)
}

/** A version of `of` that came before anybody knew of the others; `ends` is its reading's end. */
async function startVersion(stores: Stores, id: string, of: string) {
  const { sources, parts } = stores
  const key = { tenant_id: 'a', id }
  const version = source(id, { kind: 'version', replaces: of })
  expect(await sources.insert('a', version, 0)).toBe(true)
  await addDoc(stores, `doc of ${id}`, id, 'new')
  const none = { etag: null, lastModified: null, pages: null, scanned: 0, unread: 0 }
  const content = { ...none, title: of, from: id, mediaType: 'text/plain', bytes: 1, hash: id }
  return () =>
    sources.show(
      { tenant_id: 'a', id: of },
      [handOver(key, of), ...parts.publish('a', of, 1)],
      content,
      AT,
      endVersion(key, of),
    )
}

for (const adapter of INDEX_ADAPTERS) {
  describe(`what happens to a source at once, on ${adapter.name}`, () => {
    let indexes: OpenIndexes
    beforeAll(async () => {
      indexes = await adapter.open()
      const { db } = indexes
      await db.run(sql`INSERT INTO tenant (id, created_at) VALUES ('a', '')`)
      for (const id of ['red', 'blue'])
        await db.run(sql`INSERT INTO kb_collection (id, tenant_id, name, created_at)
          VALUES (${id}, 'a', ${id}, '')`)
    })
    afterAll(() => indexes[Symbol.asyncDispose]())

    test.each([
      ['older', 'first'],
      ['newer', 'second'],
    ])(
      'of two versions that came at once the newer one stays when the %s ends first',
      async (one, base) => {
        const stores = open(indexes)
        const of = `base-${base}`
        await stores.sources.insert('a', source(of, { origin: of }), 0)
        const older = await startVersion(stores, `${base}-1`, of)
        const newer = await startVersion(stores, `${base}-2`, of)
        const ends = one === 'older' ? [older, newer] : [newer, older]
        const shown: boolean[] = []
        for (const end of ends) shown.push(await end())
        expect(shown).toEqual([true, one === 'older'])
        expect(await stores.sources.get(ALL, of, 0)).toMatchObject({
          ...{ sha256: `${base}-2`, doc_ids: [`doc of ${base}-2`], state: 'ready' },
        })
        expect(await stores.versions.of({ tenant_id: 'a', id: of })).toEqual([])
      },
    )

    test('a version drops the older ones when it comes, and no newer one', async () => {
      const stores = open(indexes)
      await stores.sources.insert('a', source('base', { origin: 'base' }), 0)
      for (const id of ['v1', 'v3'])
        await stores.sources.insert('a', source(id, { kind: 'version', replaces: 'base' }), 0)
      const late = source('v2', { kind: 'version', replaces: 'base' })
      const also = [dropOlder({ tenant_id: 'a', id: 'v2' }, 'base')]
      expect(await stores.sources.insert('a', late, 0, also)).toBe(true)
      const left = await stores.versions.of({ tenant_id: 'a', id: 'base' })
      expect(left.map(({ id }) => id)).toEqual(['v3', 'v2'])
    })

    test('who sees one collection deletes nothing that leaves it in that instant', async () => {
      const view: KbView = { tenantId: 'a', collections: ['red'] }
      const quiet = open(indexes)
      await addDoc(quiet, 'typed', null, 'live')
      expect(await quiet.docs.move(ALL, 'typed', 'red')).toBe(true)
      const leaving = open(indexes, () => quiet.docs.move(ALL, 'typed', 'blue'))
      expect(await leaving.docs.remove(view, 'typed')).toBe(false)
      expect(await quiet.docs.chunks(ALL, 'typed', 0)).toHaveLength(1)
      expect(await quiet.docs.move(view, 'typed', 'red')).toBe(false)

      await quiet.sources.insert('a', source('file', { collection_id: 'red' }), 0)
      const moving = open(indexes, () => quiet.sources.move(ALL, 'file', 'blue'))
      const retire = moving.parts.retire('a', 'file')
      expect(await moving.sources.remove(view, 'file', retire)).toBe(false)
      expect(await quiet.sources.move(view, 'file', 'red')).toBe(false)
      expect(await quiet.sources.remove(ALL, 'file', retire)).toBe(true)
      expect(await quiet.docs.remove(ALL, 'typed')).toBe(true)
    })
  })
}
