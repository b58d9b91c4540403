import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  createSessionStore,
  keepRecent,
  type SessionStore,
} from '../../src/features/sessions/store.ts'
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
  stored = createSessionStore(open.db)
  kept = keepRecent(stored)
})
afterAll(async () => {
  await open[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const append = (userText: string) => (sessionId: string) =>
  kept.appendTurn({
    tenantId: 't',
    sessionId,
    userText,
    reply: '',
    at: '2026',
    appId: null,
    deviceId: null,
  })
const memory = (sessionId: string) => kept.memory('t', sessionId)

const WRITES: Readonly<Record<string, (sessionId: string) => Promise<unknown>>> = {
  'a turn': append('one'),
  'another turn': append('other'),
  'a fold': async (sessionId) => {
    const last = (await memory(sessionId))?.turns[0]
    return last && kept.fold('t', sessionId, 0, last, 'summary')
  },
  'a deletion': (sessionId) => kept.remove('t', sessionId),
  'a read': memory,
}

for (const [firstName, first] of Object.entries(WRITES)) {
  for (const [secondName, second] of Object.entries(WRITES)) {
    test(`${firstName} and ${secondName} at once leave what the database holds`, async () => {
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
  const failing = keepRecent({ ...stored, appendTurn: () => Promise.reject(lost) })
  await append('there')('lost')
  await failing.memory('t', 'lost')
  const turn = { tenantId: 't', sessionId: 'lost', userText: 'gone', reply: '', at: '2026' }
  const written = failing.appendTurn({ ...turn, appId: null, deviceId: null })
  expect(await written.catch((error: unknown) => error)).toBe(lost)
  expect(await failing.memory('t', 'lost')).toEqual(await stored.memory('t', 'lost'))
})

test('the memory of a session in use is read once', async () => {
  let reads = 0
  const counted = keepRecent({
    ...stored,
    memory: (...of) => {
      reads++
      return stored.memory(...of)
    },
  })
  const turn = { tenantId: 't', sessionId: 'used', reply: '', at: '2026' }
  await stored.appendTurn({ ...turn, userText: 'first', appId: null, deviceId: null })
  for (const userText of ['a', 'b', 'c']) {
    await counted.memory('t', 'used')
    await counted.appendTurn({ ...turn, userText, appId: null, deviceId: null })
  }
  expect((await counted.memory('t', 'used'))?.turns.map((one) => one.user_text)).toEqual([
    'first',
    'a',
    'b',
    'c',
  ])
  expect(reads).toBe(1)
})
