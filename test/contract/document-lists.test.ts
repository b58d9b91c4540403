import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createDocStore } from '../../src/features/knowledge/index/doc-store.ts'
import type { KbDoc } from '../../src/features/knowledge/model.ts'
import { type Statement, sql } from '../../src/storage/db.ts'
import { INDEX_ADAPTERS, type OpenIndexes } from '../support/indexes.ts'

/** Signs that JSON escapes, and others. */
const TITLE = 'a "b" \\ \n\u0001 語 😀'
const DOCS = 1_001
const SINCE = 7

/** The last three are parts of a file, in an order that is not that of their numbers. */
const partOf = (num: number) => (num > DOCS - 3 ? 1 + ((num + 1) % 3) : null)
const fileOf = (num: number) => (partOf(num) === null ? null : 'file')
const partsOf = (num: number) => (partOf(num) === null ? null : 3)
const collectionOf = (num: number) => (num % 2 === 0 ? 'even' : 'none')
const dayOf = (num: number) => `2026-01-${partOf(num) === null ? 10 + (num % 7) : 12}`

const insertDoc = (num: number, tenant = 't', stage = 'live'): Statement => sql`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model,
    stage, collection_id, source_id, part, parts)
  VALUES (${num}, ${`doc-${num}`}, ${tenant}, ${TITLE}, ${num}, 2, ${dayOf(num)}, 'm', ${stage},
    ${collectionOf(num)}, ${fileOf(num)}, ${partOf(num)}, ${partsOf(num)})`

const cite = (num: number, day: number, count: number) => sql`
  INSERT INTO kb_citation (doc_num, day, count) VALUES (${num}, ${day}, ${count})`

/** As the API shows it: of two days that count there are three citations and one. */
const docOf = (num: number): KbDoc => ({
  id: `doc-${num}`,
  title: TITLE,
  char_count: num,
  chunk_count: 2,
  created_at: dayOf(num),
  source_id: fileOf(num),
  part: partOf(num),
  parts: partsOf(num),
  collection_id: collectionOf(num) === 'none' ? null : 'even',
  cited_7d: num === 1 ? 4 : 0,
})

const nums = Array.from({ length: DOCS }, (_, i) => i + 1)
/** Newest first; typed documents before parts, and parts in their order. */
const listed = nums
  .toSorted((a, b) => {
    const days = dayOf(b).localeCompare(dayOf(a))
    return days || Number(partOf(a)) - Number(partOf(b)) || b - a
  })
  .map(docOf)

for (const adapter of INDEX_ADAPTERS) {
  describe(`lists of documents on ${adapter.name}`, () => {
    let open: OpenIndexes
    beforeAll(async () => {
      open = await adapter.open()
      await open.db.batch([
        sql`INSERT INTO tenant (id, created_at) VALUES ('t', '')`,
        sql`INSERT INTO tenant (id, created_at) VALUES ('other', '')`,
        ...nums.map((num) => insertDoc(num)),
        insertDoc(DOCS + 1, 't', 'old'),
        insertDoc(DOCS + 2, 'other'),
        ...[cite(1, SINCE - 1, 9), cite(1, SINCE, 3), cite(1, SINCE + 1, 1)],
        ...[cite(2, SINCE - 1, 9), cite(DOCS + 1, SINCE, 9), cite(DOCS + 2, SINCE, 9)],
      ])
    })
    afterAll(() => open[Symbol.asyncDispose]())

    const list = async (collections: string[] | null, sourceId: string | null = null) => {
      const store = createDocStore(open.db, open.reader)
      const items = await store.list({ tenantId: 't', collections }, SINCE, sourceId)
      return items.map(({ text }) => text)
    }

    test('a list of more documents than one text holds has each once, newest first', async () => {
      const texts = await list(null)
      expect(texts).toHaveLength(3)
      expect(JSON.parse(`[${texts}]`)).toEqual(listed)
    })

    test('a list of a collection or of a file has no others', async () => {
      const even = listed.filter(({ collection_id }) => collection_id === 'even')
      expect(JSON.parse(`[${await list(['even'])}]`)).toEqual(even)
      const parts = listed.filter(({ source_id }) => source_id === 'file')
      expect(JSON.parse(`[${await list(null, 'file')}]`)).toEqual(parts)
      expect(await list(['no-such'])).toEqual([])
    })
  })
}
