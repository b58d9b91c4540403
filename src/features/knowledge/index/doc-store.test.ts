import { expect, test } from 'bun:test'
import { openIndexes } from '../../../../test/support/indexes.ts'
import { tempFolder } from '../../../../test/support/temp.ts'
import { type Statement, sql } from '../../../storage/db.ts'
import type { KbDoc } from '../model.ts'
import { createDocStore } from './doc-store.ts'

/** Signs that JSON escapes, and others. */
const TITLE = 'a "b" \\ \n\u0001 語 😀'

const docOf = (num: number): Statement => sql`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model)
  VALUES (${num}, ${`doc-${num}`}, 't', ${TITLE}, 1, 1, ${`2026-01-${10 + (num % 7)}`}, 'm')`

test('a list of more documents than one statement reads has each once, newest first', async () => {
  using folder = tempFolder()
  await using indexes = await openIndexes(folder.path)
  const nums = Array.from({ length: 501 }, (_, i) => i + 1)
  await indexes.db.batch([
    sql`INSERT INTO tenant (id, created_at) VALUES ('t', '')`,
    ...nums.map(docOf),
    sql`INSERT INTO kb_citation (doc_num, day, count) VALUES (501, 7, 3)`,
  ])
  const items = await createDocStore(indexes.db, indexes.reader).list(
    { tenantId: 't', collections: null },
    1,
  )
  const newest = nums.toSorted((a, b) => (b % 7) - (a % 7) || b - a)
  const docs = JSON.parse(`[${items.map(({ text }) => text)}]`) as KbDoc[]
  expect(docs.map(({ id }) => id)).toEqual(newest.map((num) => `doc-${num}`))
  expect(docs.every(({ title }) => title === TITLE)).toBe(true)
  expect(docs.filter(({ cited_7d }) => cited_7d > 0).map(({ id }) => id)).toEqual(['doc-501'])
})
