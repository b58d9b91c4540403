import { describe, expect, test } from 'bun:test'
import { type Statement, sql } from '../../src/storage/db.ts'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { INDEX_ADAPTERS, newDoc } from '../support/indexes.ts'

const SPACE = { tenantId: 'a', model: 'm' }
const LIMIT = 60
/** Passages of another collection, each nearer to the question than any of the own ones. */
const NEARER = { docs: 50, perDoc: 200 }

const putInto = (doc: number, collection: string): Statement =>
  sql`UPDATE kb_doc SET collection_id = ${collection} WHERE num = ${doc}`

/** A unit vector at this angle to the question, which is [1, 0]. */
const at = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle))

const keysOf = (doc: number, count: number) =>
  Array.from({ length: count }, (_, i) => doc * KEYS_PER_DOC + i)

describe.each(INDEX_ADAPTERS)('$name', ({ open: openIndexes }) => {
  test('10,000 nearer passages of another collection take no place of the own ones', async () => {
    await using open = await openIndexes()
    const { db, vectors, words } = open
    const make = (collection: string) => sql`
      INSERT INTO kb_collection (id, tenant_id, name, created_at)
      VALUES (${collection}, ${SPACE.tenantId}, ${collection}, '')`
    const own = keysOf(1, 100)
    const far = own.map((key, i) => ({ key, vector: at(1 + i / 1_000), terms: ['moon', `w${i}`] }))
    await db.batch([...newDoc('a', own.length), make('own'), make('other'), putInto(1, 'own')])
    await db.batch([...vectors.upsert(SPACE, far), ...words.upsert('a', far)])
    for (let doc = 2; doc < 2 + NEARER.docs; doc++) {
      const near = keysOf(doc, NEARER.perDoc).map((key, i) => {
        return { key, vector: at(i / 1_000), terms: ['moon', 'moon', 'moon', 'base'] }
      })
      await db.batch([
        ...newDoc('a', near.length),
        putInto(doc, 'other'),
        ...vectors.upsert(SPACE, near),
        ...words.upsert('a', near),
      ])
    }
    const search = (collections: readonly string[] | null) =>
      vectors.search({ ...SPACE, collections }, at(0), LIMIT)
    const best = own.slice(0, LIMIT)
    expect((await search(null)).some(({ key }) => own.includes(key))).toBe(false)
    expect((await search(['own'])).map(({ key }) => key)).toEqual(best)
    const byWord = (collections: readonly string[]) =>
      words.search('a', ['moon', 'base'], LIMIT, undefined, collections)
    expect((await byWord(['own'])).map(({ key }) => key)).toEqual(best)
    expect(await search([])).toEqual([])
    expect(await byWord([])).toEqual([])
  }, 120_000)
})
