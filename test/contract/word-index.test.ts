import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { INDEX_ADAPTERS, newDoc, type OpenIndexes } from '../support/indexes.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz'
/** A word that begins with `ca`, the same for the same number. */
const numbered = (n: number) =>
  `ca${[n / 676, n / 26, n].map((part) => letters[Math.floor(part) % 26]).join('')}`

const keys = (found: readonly { key: number }[]) => found.map(({ key }) => key)

describe.each(INDEX_ADAPTERS)('on $name', (adapter) => {
  let open: OpenIndexes
  beforeAll(async () => {
    open = await adapter.open()
  })
  beforeEach(() => open.clear())
  afterAll(() => open[Symbol.asyncDispose]())

  const put = (tenantId: string, texts: Record<number, string>) => {
    const entries = Object.entries(texts).map(([key, text]) => ({
      key: Number(key),
      terms: text.split(' '),
    }))
    return open.db.batch([
      ...newDoc(tenantId, entries.length),
      ...open.words.upsert(tenantId, entries),
    ])
  }
  const find = async (tenantId: string, text: string) =>
    keys(await open.words.search(tenantId, text.split(' '), 50))

  test('the entry with more and rarer terms of the question comes first', async () => {
    await put('a', { 1: '知识 识库 库', 2: '知识 产权 权', 3: '天气 气', 4: '知识 图谱 谱' })
    expect(await find('a', '知识 识库')).toEqual([
      1,
      ...(await find('a', '知识')).filter((k) => k !== 1),
    ])
    expect(await find('a', '天气')).toEqual([3])
    expect(await find('a', '没有')).toEqual([])
  })

  test('entries of another tenant are not found and do not change the order', async () => {
    await put('a', { 1: 'rare common', 2: 'common common other' })
    const before = await open.words.search('a', ['rare', 'common'], 50)
    await put('b', Object.fromEntries(Array.from({ length: 40 }, (_, i) => [100 + i, 'rare'])))
    const after = await open.words.search('a', ['rare', 'common'], 50)
    expect(keys(after)).toEqual(keys(before))
    expect(keys(after)).toEqual([1, 2])
    expect(await find('b', 'common')).toEqual([])
    expect(await open.words.search('b', ['rare'], 100)).toHaveLength(40)
  })

  test('the order of word search stays right after another tenant wrote', async () => {
    await put('a', { 1: 'common rare', 2: 'common common common', 3: 'common x', 4: 'common y' })
    const many = Array.from({ length: 200 }, (_, i) => ({ key: 100 + i, terms: [`z${i}`] }))
    const statements = [...newDoc('b', many.length), ...open.words.upsert('b', many)]
    await open.words.search('a', ['rare'], 50)
    await open.db.batch(statements)
    const [first, second] = await open.words.search('a', ['rare', 'common'], 50)
    expect(keys([first, second].filter((match) => match !== undefined))).toEqual([1, 2])
    expect(second?.coverage).toBeLessThan(0.2)
  })

  test('the coverage of an entry is the share of the question that it holds', async () => {
    await put('a', { 1: 'alpha beta', 2: 'gamma', 3: 'delta', 4: 'epsilon' })
    const [whole] = await open.words.search('a', ['alpha', 'beta'], 5)
    const [part] = await open.words.search('a', ['alpha', 'unknown', 'words', 'only'], 5)
    expect(whole?.coverage).toBeGreaterThan(part?.coverage ?? 1)
    expect(whole?.coverage).toBeLessThanOrEqual(1)
    expect(part?.coverage).toBeGreaterThan(0)
  })

  test('exact terms, prefixes and signs in part numbers are found', async () => {
    await put('a', {
      1: '第36 36条 ab-1234',
      2: '第367 367条 ab-1235',
      3: 'c++ a.b@c.org',
      4: "o'neil",
    })
    expect(await find('a', '36条')).toEqual([1])
    expect(await find('a', 'ab-1235')).toEqual([2])
    expect(await find('a', 'c++')).toEqual([3])
    expect(await find('a', "o'neil")).toEqual([4])
    expect((await find('a', '第*')).sort()).toEqual([1, 2])
  })

  test('signs of the query language of FTS5 are searched for as text', async () => {
    await put('a', { 1: 'near or not' })
    for (const term of ['"', '*', '"*"', 'a" OR "b', 'NEAR(or not)', '^', ':', '']) {
      expect(await open.words.search('a', [term], 5)).toEqual([])
    }
    expect(await find('a', 'or')).toEqual([1])
  })

  test('a frequent word counts only when it is the whole question', async () => {
    const many = Array.from({ length: 600 }, (_, i) => [i + 1, i === 7 ? 'the rare' : 'the'])
    await put('a', Object.fromEntries(many))
    await put('b', { 1001: 'the rare', 1002: 'the', 1003: 'other' })
    expect(await find('a', 'the rare')).toEqual([8])
    expect(await find('a', 'the')).toHaveLength(50)
    expect(await find('b', 'the rare')).toEqual([1001, 1002])
  })

  test('the most frequent words are dropped from an expensive question', async () => {
    const terms = Array.from({ length: 120 }, (_, i) => `w${i}`)
    const most = Array.from({ length: 450 }, (_, i) => [i + 1, terms.join(' ')])
    await put('a', { ...Object.fromEntries(most), 1000: 'w119' })
    const all = await open.words.search('a', terms, 1_000)
    expect(all).toHaveLength(450)
    expect(keys(all)).not.toContain(1_000)
    expect(keys(await open.words.search('a', ['w1', 'w119'], 1_000))).toContain(1_000)
  })

  test('a misspelt word finds the right one, with less coverage than the word itself', async () => {
    await put('a', { 1: 'warranti year', 2: 'deliveri week', 3: 'гаранти год' })
    expect(await find('a', 'waranti')).toEqual([1])
    expect(await find('a', 'delievri')).toEqual([2])
    expect(await find('a', 'гарант')).toEqual([3])
    expect(await find('a', 'warrant week')).toEqual([2, 1])
    const [meant] = await open.words.search('a', ['waranti'], 5)
    const [said] = await open.words.search('a', ['warranti'], 5)
    expect(meant?.coverage).toBeLessThan(said?.coverage ?? 0)
    // Too short, too different, and part numbers: those are meant as they are written.
    for (const term of ['yaer', 'wxrrxnti', '1234', 'warranti-2']) {
      expect(await find('a', term)).toEqual([])
    }
  })

  test('a word with an error in its second letter finds the right one', async () => {
    await put('a', { 1: 'warranti', 2: 'гаранти' })
    for (const slip of ['wrarranti', 'wrranti', 'wirranti', 'wraranti', 'waarranti']) {
      expect([slip, await find('a', slip)]).toEqual([slip, [1]])
    }
    for (const slip of ['гранти', 'граанти', 'гиранти', 'гоаранти']) {
      expect([slip, await find('a', slip)]).toEqual([slip, [2]])
    }
    expect(await find('a', 'xarranti')).toEqual([])
  })

  test('a misspelt word is compared with thousands of words', async () => {
    const wordsOf = (from: number, last: string) =>
      `${Array.from({ length: 2_500 }, (_, i) => numbered(from + i)).join(' ')} ${last}`
    await put('a', { 1: wordsOf(0, 'carpet'), 2: wordsOf(2_500, 'carton') })
    expect(await find('a', 'carrpet')).toEqual([1])
    expect(await find('a', 'cartonn')).toEqual([2])
  })

  test('terms with signs of query languages find only entries that hold them', async () => {
    const odd = ["a'b", 'a\\b', "a''|x", "x':*", '!x', 'x&y', '(x)', 'x:A', '$1', '?', '%']
    const entries = odd.map((term, i) => ({ key: i + 1, terms: [term, 'plain'] }))
    await open.db.batch([...newDoc('a', odd.length), ...open.words.upsert('a', entries)])
    await put('b', { 101: 'x plain' })
    for (const [i, term] of odd.entries()) {
      const found = keys(await open.words.search('a', [term], 50))
      if (adapter.name === 'PostgreSQL') expect([term, found]).toEqual([term, [i + 1]])
      expect(found).not.toContain(101)
    }
    expect(keys(await open.words.search('a', ["' | 'x", "'", '\\', "'':*", '&', '!'], 50))).toEqual(
      [],
    )
    expect(await find('a', 'plain')).toHaveLength(odd.length)
  })

  test('a search that was aborted before its turn rejects with the reason', async () => {
    await put('a', { 1: 'alpha' })
    const left = AbortSignal.abort(new Error('left'))
    await expect(open.words.search('a', ['alpha'], 5, left)).rejects.toThrow('left')
  })

  test('a batch that fails leaves no words behind', async () => {
    const statements = open.words.upsert('a', [{ key: 1, terms: ['alpha'] }])
    const failing = open.db.batch([
      ...newDoc('a', 1),
      ...statements,
      { sql: 'INSERT INTO nothing VALUES (1)', args: [] },
    ])
    await expect(failing).rejects.toThrow()
    await put('a', { 2: 'beta' })
    expect(await find('a', 'alpha')).toEqual([])
  })

  test('a prefix of thousands of terms finds entries by the most frequent ones', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => `猫${String.fromCodePoint(0x4e00 + i)}`)
    await put('a', {
      1: many.join(' '),
      2: many.slice(0, 40).join(' '),
      3: many[1_100] ?? '',
      4: '狗',
    })
    expect((await find('a', '猫*')).sort()).toEqual([1, 2])
    await put('b', { 5: '猫粮 粮', 6: '小猫 猫', 7: '狗' })
    expect((await find('b', '猫*')).sort()).toEqual([5, 6])
  })

  test('a word that some entry holds is not corrected', async () => {
    await put('a', { 1: 'prince', 2: 'prices' })
    expect(await find('a', 'prince')).toEqual([1])
    expect((await find('a', 'price')).sort()).toEqual([1, 2])
  })

  test('words of another tenant or a deleted entry are no corrections', async () => {
    await put('a', { 1: 'alpha' })
    await put('b', { 2: 'warranti' })
    expect(await find('a', 'waranti')).toEqual([])
    await open.db.batch(open.words.remove([2]))
    await put('b', { 3: 'other' })
    expect(await find('b', 'waranti')).toEqual([])
  })

  test('entries of the word index are replaced by key, and removed', async () => {
    await put('a', { 5: 'old' })
    await put('a', { 5: 'new' })
    expect(await find('a', 'old')).toEqual([])
    await open.db.batch(open.words.remove([5]))
    expect(await find('a', 'new')).toEqual([])
  })
})

test('SQLite compares a misspelt word with twenty thousand words at most', async () => {
  const [sqlite] = INDEX_ADAPTERS
  await using open = (await sqlite?.open()) as OpenIndexes
  const many = (letter: string) =>
    Array.from({ length: 5_000 }, (_, i) => `cas${numbered(i)}${letter}${'x'.repeat(12)}`)
  const entries = [...'abcdef'].map((letter, i) => ({ key: 10 + i, terms: many(letter) }))
  const last = { key: 20, terms: ['carpet', 'cazzzzz'] }
  await open.db.batch([...newDoc('a', 7), ...open.words.upsert('a', [...entries, last])])
  expect(keys(await open.words.search('a', ['carrpet'], 5))).toEqual([20])
  expect(await open.words.search('a', ['cazzzzzz'], 5)).toEqual([])
})
