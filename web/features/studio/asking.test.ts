import { expect, test } from 'bun:test'
import { createAsking } from './asking.ts'
import { createDrafts } from './drafts.ts'
import { createQueue } from './queue.ts'
import { newTurn } from './turn.ts'
import { createTurnStore } from './turn-store.ts'

const SESSION = 'play-1'

/** What a browser keeps for a tab, as far as it has room. */
function storageOf({ isFull = false } = {}): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, text: string) {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      kept.set(name, text)
    },
    removeItem: (name: string) => void kept.delete(name),
  } as Storage
}

const asked = (text: string) => ({
  ...{ text, session_id: SESSION, app_id: null, images: [], kb: false },
})
const fault = { message: '', status: 0, error: null }

/** A question that has left once and did not reach the server, which is back now. */
async function askedInVain(storage: Storage, hasTaken: () => Promise<boolean | 'interrupted'>) {
  const sent: string[] = []
  let isAway = false
  const queue = createQueue(storage)
  const asking = createAsking({
    queue,
    turns: createTurnStore(storage),
    isRunning: () => false,
    isAway: () => isAway,
    async send({ text, images }) {
      sent.push(text)
      isAway = true
      return { ...newTurn('1', { text, images }, 0), state: 'failed', fault }
    },
    hasTaken,
    tellStored: async () => {},
    stop() {},
  })
  asking.ask(asked('Did it arrive?'), { names: [], seen: 0 })
  await new Promise(setImmediate)
  expect(sent).toEqual(['Did it arrive?'])
  isAway = false
  asking.resume()
  return { queue, asking, sent }
}

test('a question that waits is not lost by a reload while the server is asked for it', async () => {
  const storage = storageOf()
  await askedInVain(storage, () => new Promise(() => {}))
  const { waiting } = createQueue(storage).lineOf(SESSION)
  expect(waiting.map(({ request }) => request.text)).toEqual(['Did it arrive?'])
})

test('a question that is taken out while the server is asked for it does not go', async () => {
  const answer = Promise.withResolvers<boolean>()
  const { queue, asking, sent } = await askedInVain(storageOf(), () => answer.promise)
  queue.drop(SESSION, queue.lineOf(SESSION).waiting[0]?.id ?? '')
  asking.ask(asked('And this?'), { names: [], seen: 0 })
  answer.resolve(false)
  await new Promise(setImmediate)
  expect(sent).toEqual(['Did it arrive?', 'And this?'])
})

test('the next question waits where it would drop an answer that was interrupted', async () => {
  const answer = Promise.withResolvers<'interrupted'>()
  const { queue, asking, sent } = await askedInVain(storageOf(), () => answer.promise)
  asking.ask(asked('And this?'), { names: [], seen: 0 })
  answer.resolve('interrupted')
  await new Promise(setImmediate)
  expect(sent).toEqual(['Did it arrive?'])
  const { waiting, isHeld } = queue.lineOf(SESSION)
  expect(waiting.map(({ request }) => request.text)).toEqual(['And this?'])
  expect(isHeld).toBe(true)
})

test('a browser without room keeps no draft, and the page has it', () => {
  const drafts = createDrafts(storageOf({ isFull: true }))
  expect(drafts.fresh(() => SESSION)).toBe(SESSION)
  expect(drafts.isFresh(SESSION)).toBe(true)
  drafts.change(SESSION, () => ({ text: 'Half a thought' }))
  expect(drafts.read(SESSION).text).toBe('Half a thought')
  expect(drafts.fresh(() => 'play-2')).toBe(SESSION)
})
