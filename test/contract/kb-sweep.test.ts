import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPartStore } from '../../src/features/knowledge/index/part-store.ts'
import { createStaleStore } from '../../src/features/knowledge/index/stale-store.ts'
import { createKbStore } from '../../src/features/knowledge/index/store.ts'
import { type Db, sql } from '../../src/storage/db.ts'
import { INDEX_ADAPTERS, type OpenIndexes } from '../support/indexes.ts'

const CHUNKS = 40

for (const adapter of INDEX_ADAPTERS) {
  describe(`removing documents on ${adapter.name}`, () => {
    let open: OpenIndexes
    beforeAll(async () => {
      open = await adapter.open()
      await open.db.run(sql`INSERT INTO tenant (id, created_at) VALUES ('a', '')`)
    })
    afterAll(() => open[Symbol.asyncDispose]())

    test('a document embedded again while it is removed leaves nothing in an index', async () => {
      const { db, vectors, words } = open
      const parts = { vectors, words, docsMax: 10 }
      const reader = { isSideBySide: false, all: async () => [] }
      const store = createKbStore({ ...parts, db, reader, scans: reader })
      const entry = { vector: Float32Array.of(1, 0), terms: ['term'] }
      const chunk = { ...entry, text: 'term', page: null, heading: null }
      const typed = { source_id: null, part: null, parts: null, char_count: 4 }
      const doc = { ...typed, id: 'd', title: 'd', chunk_count: CHUNKS, created_at: '2026-11-21' }
      const chunks = Array.from({ length: CHUNKS }, () => chunk)
      expect(await store.insert({ tenantId: 'a', stage: 'live', doc, model: 'm1', chunks })).toBe(
        true,
      )

      const stale = createStaleStore({ db, vectors, words })
      const found = await stale.nextStale('m2', 0)
      if (!found) throw new Error('no document waits')
      await db.run(sql`UPDATE kb_doc SET stage = 'old'`)
      // The embedding ends when the entries are gone and the row is not.
      const run: Db['run'] = async (statement) => {
        const fresh = Array.from({ length: CHUNKS }, () => entry)
        await stale.replace(found, 'm2', fresh)
        return db.run(statement)
      }
      const prepare = () => Promise.reject(new Error('nothing is added'))
      await createPartStore({ ...parts, store, prepare, db: { ...db, run } }).sweep()

      const counts = await db.get(sql`
        SELECT (SELECT count(*) FROM kb_doc) AS docs, (SELECT count(*) FROM kb_word) AS words,
          (SELECT count(*) FROM kb_vector) AS vectors`)
      expect(counts).toEqual({ docs: 0, words: 0, vectors: 0 })
    })
  })
}
