import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keepRecent } from '../../src/features/sessions/recent.ts'
import { createSessionStore, type SessionStore } from '../../src/features/sessions/store.ts'
import { sql } from '../../src/storage/db.ts'
import { openIndexes } from '../support/indexes.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

let folder: TempFolder
let open: Awaited<ReturnType<typeof openIndexes>>
let stored: SessionStore
let kept: SessionStore
beforeAll(async () => {
  folder = tempFolder()
  open = await openIndexes(folder.path)
  await open.db.run(sql`INSERT INTO tenant (id, created_at) VALUES ('t', '')`)
  stored = createSessionStore(open.db, { keepsTranscript: () => true })
  kept = keepRecent(stored)
})
afterAll(async () => {
  await open[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const TURN = {
  ...{ tenantId: 't', reply: '', at: '2026', appId: null, deviceId: null },
  ...{ details: null, replaces: null },
}
const append = (userText: string) => (sessionId: string) =>
  kept.appendTurn({ ...TURN, sessionId, userText })
const memory = (sessionId: string) => kept.memory('t', sessionId)

const WRITES: Readonly<Record<string, (sessionId: string) => Promise<unknown>>> = {
  'a turn': append('one'),
  'another turn': append('other'),
  'a fold': async (sessionId) => {
    const last = (await memory(sessionId))?.turns[0]
    return last && kept.fold('t', sessionId, 0, last, 'summary')
  },
  'a turn in the place of the last': async (sessionId) => {
    const replaces = (await memory(sessionId))?.turns.at(-1) ?? null
    return kept.appendTurn({ ...TURN, sessionId, userText: 'better', replaces })
  },
  'a deletion': (sessionId) => kept.remove('t', sessionId),
  'a read': memory,
}

for (const [firstName, first] of Object.entries(WRITES)) {
  for (const [secondName, second] of Object.entries(WRITES)) {
    test(`${firstName} and ${secondName} at once keep the cache correct`, async () => {
      const sessionId = `${firstName} ${secondName}`
      for (const text of ['a', 'b']) await append(text)(sessionId)
      await memory(sessionId)
      await Promise.all([first(sessionId), memory(sessionId), second(sessionId)])
      expect(await memory(sessionId)).toEqual(await stored.memory('t', sessionId))
      await append('next')(sessionId)
      expect(await memory(sessionId)).toEqual(await stored.memory('t', sessionId))
    })
  }
}

test('a turn that could not be stored is not remembered', async () => {
  const lost = new Error('disk full')
  const failing = keepRecent({ ...stored, writeTurn: () => Promise.reject(lost) })
  await append('there')('lost')
  await failing.memory('t', 'lost')
  const written = failing.appendTurn({ ...TURN, sessionId: 'lost', userText: 'gone' })
  expect(await written.catch((error: unknown) => error)).toBe(lost)
  expect(await failing.memory('t', 'lost')).toEqual(await stored.memory('t', 'lost'))
})

/** A store that keeps sessions, and how often it has read one. */
function countReads() {
  let reads = 0
  const counted = keepRecent({
    ...stored,
    memory: (...of) => {
      reads++
      return stored.memory(...of)
    },
  })
  return { counted, reads: () => reads }
}

test('the memory of a session in use is read once', async () => {
  const { counted, reads } = countReads()
  const turn = { ...TURN, sessionId: 'used' }
  await stored.appendTurn({ ...turn, userText: 'first' })
  for (const userText of ['a', 'b', 'c']) {
    await counted.memory('t', 'used')
    await counted.appendTurn({ ...turn, userText })
  }
  expect((await counted.memory('t', 'used'))?.turns.map((one) => one.user_text)).toEqual([
    'first',
    'a',
    'b',
    'c',
  ])
  expect(reads()).toBe(1)
})

test('a turn that is stored during a fold does not make the session be read again', async () => {
  const { counted, reads } = countReads()
  const turn = { ...TURN, sessionId: 'folded' }
  for (const userText of ['a', 'b']) await stored.appendTurn({ ...turn, userText })
  const last = (await counted.memory('t', 'folded'))?.turns[0]
  if (!last) throw new Error('nothing to fold')
  await Promise.all([
    counted.fold('t', 'folded', 0, last, 'summary'),
    counted.appendTurn({ ...turn, userText: 'c' }),
  ])
  expect(await counted.memory('t', 'folded')).toEqual(await stored.memory('t', 'folded'))
  expect(reads()).toBe(1)
})
