import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTurnConfigStore } from '../../src/features/agent/store.ts'
import { indexWords } from '../../src/features/sessions/conversation-search.ts'
import { createIndexingStore } from '../../src/features/sessions/indexing-store.ts'
import { keepRecent } from '../../src/features/sessions/recent.ts'
import { createSessionStore, type SessionStore } from '../../src/features/sessions/store.ts'
import { type Db, sql } from '../../src/storage/db.ts'
import { INDEX_ADAPTERS, type OpenIndexes } from '../support/indexes.ts'

const TURN = {
  ...{ tenantId: 't', sessionId: 's', reply: '', appId: null, deviceId: null },
  ...{ details: null, replaces: null },
}

test('a number is indexed by its beginnings up to eight characters, and whole', () => {
  const words = indexWords(['13812345678 extraordinary'])
  expect(words).toContain('13812345')
  expect(words).toContain('13812345678')
  expect(words).not.toContain('138123456')
  expect(words).toContain('extraordin')
})

describe.each(INDEX_ADAPTERS)('the words of turns in $name', ({ open }) => {
  let indexes: OpenIndexes
  let sessions: SessionStore
  beforeAll(async () => {
    indexes = await open()
    await indexes.db.run(sql`INSERT INTO tenant (id, created_at) VALUES ('t', '')`)
    sessions = createSessionStore(indexes.db, { keepsTranscript: () => true })
  })
  afterAll(() => indexes[Symbol.asyncDispose]())

  const store = (db: Db = indexes.db) => createIndexingStore({ db, index: indexes.turnIndex })
  const found = async (word: string) =>
    (await indexes.turnIndex.holders('t', [word], 10))?.length ?? 0
  const say = (userText: string, at: string, more: object = {}) =>
    sessions.appendTurn({ ...TURN, userText, at, ...more })

  /** A database where `meanwhile` happens between a round's reads and its write. */
  function meeting(meanwhile: () => Promise<unknown>): Db {
    let left: (() => Promise<unknown>) | null = meanwhile
    return {
      ...indexes.db,
      async batch(statements) {
        const first = left
        left = null
        await first?.()
        return indexes.db.batch(statements)
      },
    }
  }

  test('a turn that is stored while others are indexed is indexed by the next round', async () => {
    await say('first', '2026-01-01')
    const round = await store(meeting(() => say('second', '2026-01-02'))).round('t')
    expect([round.waited, round.stored, await found('second')]).toEqual([1, 0, 0])
    expect(await found('first')).toBe(1)
    const put: number[] = []
    const counting = createIndexingStore({
      db: indexes.db,
      index: {
        put: (...args) => {
          put.push(1)
          return indexes.turnIndex.put(...args)
        },
      },
    })
    expect(await counting.round('t')).toMatchObject({ waited: 1, stored: 1 })
    expect(put).toHaveLength(1)
    expect([await found('first'), await found('second')]).toEqual([1, 1])
    expect(await store().round('t')).toMatchObject({ waited: 0 })
  })

  test('a turn that is replaced, also while it is indexed, is found by its new words', async () => {
    const replaced = async (userText: string, at: string) => {
      const replaces = (await sessions.memory('t', 's'))?.turns.at(-1) ?? null
      await say(userText, at, { replaces })
    }
    await replaced('third', '2026-01-03')
    await store(meeting(() => replaced('fourth', '2026-01-04'))).round('t')
    expect([await found('third'), await found('fourth')]).toEqual([0, 0])
    await store().round('t')
    expect([await found('second'), await found('third'), await found('fourth')]).toEqual([0, 0, 1])
    await replaced('fifth', '2026-01-05')
    await store().round('t')
    expect([await found('fourth'), await found('fifth'), await found('first')]).toEqual([0, 1, 1])
  })

  test('two servers that index at once index each turn', async () => {
    await say('sixth', '2026-01-06')
    await Promise.all([store().round('t'), store().round('t')])
    expect(await found('sixth')).toBe(1)
    expect(await store().waits()).toBe(false)
  })

  test('the number of a stored turn is that in the database', async () => {
    const kept = keepRecent(sessions)
    await kept.memory('t', 's')
    const seq = await kept.appendTurn({ ...TURN, userText: 'seventh', at: '2026-01-07' })
    expect(seq).toBe(await sessions.newestTurn('t', 's'))
    const other = { ...TURN, sessionId: 'new', userText: 'begin', at: '2026-01-07' }
    expect(await kept.appendTurn(other)).toBe(1)
  })
})

test('the configuration of turns with a key is read once', async () => {
  await using indexes = await (INDEX_ADAPTERS[0]?.open() ?? Promise.reject(new Error('none')))
  await indexes.db.run(sql`INSERT INTO tenant (id, created_at) VALUES ('t', '')`)
  const read: string[] = []
  const first = await indexes.db.get(sql`SELECT id FROM tenant WHERE id = ${'t'}`)
  expect(await indexes.db.get(sql`SELECT id FROM tenant WHERE id = ${'t'}`)).toBe(first)
  const db = {
    ...indexes.db,
    get: async <Row>(statement: Parameters<Db['get']>[0]) => {
      read.push(statement.sql)
      return indexes.db.get<Row>(statement)
    },
  }
  await createTurnConfigStore(db).load('t', null, null)
  const [text = ''] = read
  const again = () => indexes.db.get({ sql: text, args: [null, null, 't'] })
  expect(await again()).toBe(await again())
})
