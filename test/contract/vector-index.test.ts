import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { dot } from '../../src/core/vector.ts'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { INDEX_ADAPTERS, type OpenIndexes } from '../support/indexes.ts'

const unit = (...values: number[]) => {
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}
const space = (tenantId = 'a', model = 'm1') => ({ tenantId, model })
type Keys = [number, number, number]
const keys = (found: readonly { key: number }[]) => found.map(({ key }) => key)

/** A unit vector that is the same for the same seed. */
function noise(dimensions: number, seed: number): Float32Array {
  let state = seed * 7_919
  return unit(
    ...Array.from({ length: dimensions }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32 - 0.5
    }),
  )
}

describe.each(INDEX_ADAPTERS)('on $name', (adapter) => {
  let open: OpenIndexes
  beforeAll(async () => {
    open = await adapter.open()
  })
  beforeEach(() => open.clear())
  afterAll(() => open[Symbol.asyncDispose]())

  test('vectors are found nearest first, with their cosine', async () => {
    const entries = [
      { key: 1, vector: unit(1, 0, 0) },
      { key: 2, vector: unit(1, 1, 0) },
      { key: 3, vector: unit(-1, 0, 0) },
    ]
    await open.db.batch(open.vectors.upsert(space(), entries))
    const found = await open.vectors.search(space(), unit(1, 0, 0), 3)
    expect(keys(found)).toEqual([1, 2, 3])
    for (const [i, wanted] of [1, Math.SQRT1_2, -1].entries()) {
      expect(found[i]?.cosine).toBeCloseTo(wanted, 4)
    }
    expect(keys(await open.vectors.search(space(), unit(1, 0, 0), 1))).toEqual([1])
  })

  test('vectors of another tenant or another model are never found', async () => {
    const vector = unit(0, 1, 0)
    const [first, second, third] = [1, 2, 3].map((doc) => doc * KEYS_PER_DOC) as Keys
    await open.db.batch([
      ...open.vectors.upsert(space('a'), [{ key: first, vector }]),
      ...open.vectors.upsert(space('b'), [{ key: second, vector }]),
      ...open.vectors.upsert(space('a', 'm2'), [{ key: third, vector }]),
    ])
    expect(keys(await open.vectors.search(space('a'), vector, 50))).toEqual([first])
    expect(keys(await open.vectors.search(space('b'), vector, 50))).toEqual([second])
    const all = [first, second, third]
    expect(keys(await open.vectors.cosines(space('a'), vector, all))).toEqual([first])
    expect(await open.vectors.search(space('c'), vector, 50)).toEqual([])
  })

  test('vectors of different lengths are stored side by side', async () => {
    const other = KEYS_PER_DOC + 1
    await open.db.batch([
      ...open.vectors.upsert(space(), [{ key: 1, vector: unit(1, 0) }]),
      ...open.vectors.upsert(space(), [{ key: other, vector: unit(0, 1, 0, 0) }]),
    ])
    expect(keys(await open.vectors.search(space(), unit(1, 0), 5))).toEqual([1])
    expect(keys(await open.vectors.search(space(), unit(0, 1, 0, 0), 5))).toEqual([other])
    expect(await open.vectors.read(space(), 2, [1, other])).toEqual([unit(1, 0)])
    await open.db.batch(open.vectors.remove([1, other]))
    expect(await open.vectors.search(space(), unit(1, 0), 5)).toEqual([])
    expect(await open.vectors.search(space(), unit(0, 1, 0, 0), 5)).toEqual([])
  })

  test('vectors are replaced by key, and removed', async () => {
    await open.db.batch(open.vectors.upsert(space(), [{ key: 7, vector: unit(1, 0) }]))
    await open.db.batch(open.vectors.upsert(space(), [{ key: 7, vector: unit(0, 1) }]))
    const [found] = await open.vectors.search(space(), unit(0, 1), 5)
    expect(found?.cosine).toBeCloseTo(1, 5)
    await open.db.batch(open.vectors.remove([7]))
    expect(await open.vectors.search(space(), unit(0, 1), 5)).toEqual([])
  })

  test('the zero vector is not stored, and an unknown length finds nothing', async () => {
    await open.db.batch([
      ...open.vectors.upsert(space(), [{ key: 1, vector: new Float32Array(3) }]),
      { sql: 'SELECT 1', args: [] },
    ])
    expect(await open.vectors.search(space(), unit(1, 0, 0), 5)).toEqual([])
    expect(await open.vectors.cosines(space(), unit(1, 0, 0), [1])).toEqual([])
  })

  test('a batch that fails leaves no vector behind, and later batches work', async () => {
    const statements = open.vectors.upsert(space(), [{ key: 1, vector: unit(1, 0) }])
    const failing = open.db.batch([
      ...statements,
      { sql: 'INSERT INTO nothing VALUES (1)', args: [] },
    ])
    await expect(failing).rejects.toThrow()
    await failing.catch(() => null)
    expect(await open.vectors.search(space(), unit(1, 0), 5)).toEqual([])
    await open.db.batch(open.vectors.remove([1]))
  })

  test('removing one vector of a document hides its other vectors at once', async () => {
    const [first, second] = [KEYS_PER_DOC, KEYS_PER_DOC + 1] as const
    const other = 2 * KEYS_PER_DOC
    const entries = [first, second, other].map((key) => ({ key, vector: unit(1, key) }))
    await open.db.batch(open.vectors.upsert(space(), entries))
    await open.db.batch(open.vectors.remove([first]))
    expect(keys(await open.vectors.search(space(), unit(1, 1), 5))).toEqual([other])
  })

  test('a vector of another model takes the place of the one before', async () => {
    await open.db.batch(open.vectors.upsert(space('a', 'm1'), [{ key: 7, vector: unit(1, 0) }]))
    const later = [{ key: 7, vector: unit(0, 1, 1) }]
    await open.db.batch(open.vectors.upsert(space('a', 'm2'), later))
    expect(await open.vectors.search(space('a', 'm1'), unit(1, 0), 5)).toEqual([])
    expect(keys(await open.vectors.search(space('a', 'm2'), unit(0, 1, 1), 5))).toEqual([7])
  })

  test('a tenant with four vectors among thousands of others finds all four', async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => ({
      key: KEYS_PER_DOC * 10 + i,
      vector: noise(32, i),
    }))
    const few = [1, 2, 3, 4].map((doc) => ({ key: doc * KEYS_PER_DOC, vector: noise(32, -doc) }))
    await open.db.batch(open.vectors.upsert(space('b'), many))
    await open.db.batch(open.vectors.upsert(space('a'), few))
    const found = await open.vectors.search(space('a'), noise(32, 5), 60)
    expect(keys(found).toSorted((a, b) => a - b)).toEqual(keys(few))
  })

  test('a vector search that was aborted before its turn rejects with the reason', async () => {
    const left = AbortSignal.abort(new Error('left'))
    await expect(open.vectors.search(space(), unit(1, 0), 5, left)).rejects.toThrow('left')
    await expect(open.vectors.cosines(space(), unit(1, 0), [1], left)).rejects.toThrow('left')
  })

  test('the nearest of thousands of vectors are found in the order of their cosine', async () => {
    const around = noise(64, 1)
    // A hundred that come near to the question, each farther than the one before, among others.
    const entries = Array.from({ length: 3_000 }, (_, i) => {
      const vector = noise(64, i + 2)
      const share = i % 30 === 7 ? 1 - i / 5_000 : 0
      return {
        key: KEYS_PER_DOC + i,
        vector: unit(...vector.map((x, d) => x + share * 3 * (around[d] ?? 0))),
      }
    })
    await open.db.batch(open.vectors.upsert(space(), entries))
    const exact = entries
      .map(({ key, vector }) => ({ key, cosine: dot(around, vector) }))
      .toSorted((a, b) => b.cosine - a.cosine)
    const found = await open.vectors.search(space(), around, 50)
    expect(keys(found)).toEqual(keys(exact.slice(0, 50)))
  })
})
