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
  ...{ turn_id: text, text, session_id: SESSION, app_id: null, images: [], kb: false },
})
const fault = { message: '', status: 0, error: null }

test('a question that did not arrive goes again by its name, also after a reload', async () => {
  const storage = storageOf()
  const sent: string[] = []
  let isAway = false
  const askingOf = (queue: ReturnType<typeof createQueue>) =>
    createAsking({
      queue,
      turns: createTurnStore(storage),
      isRunning: () => false,
      isAway: () => isAway,
      async send({ turn_id, text, images }) {
        sent.push(turn_id)
        isAway = true
        return { ...newTurn('1', { text, images }, 0), state: 'failed', fault }
      },
      stop() {},
    })
  const asking = askingOf(createQueue(storage))
  asking.ask(asked('Did it arrive?'), { names: [] })
  await new Promise(setImmediate)
  isAway = false
  asking.resume()
  await new Promise(setImmediate)
  isAway = false
  const queue = createQueue(storage)
  const [kept] = queue.lineOf(SESSION).waiting
  if (!kept) throw new Error('the question was lost')
  askingOf(queue).sendNow(kept)
  await new Promise(setImmediate)
  expect(sent).toEqual(['Did it arrive?', 'Did it arrive?', 'Did it arrive?'])
})

test('a question that the server tells of while it goes in vain waits no more', async () => {
  const storage = storageOf()
  const queue = createQueue(storage)
  const turns = createTurnStore(storage)
  const asking = createAsking({
    queue,
    turns,
    isRunning: () => false,
    isAway: () => false,
    async send({ turn_id, text, images, session_id }) {
      turns.add(session_id, { text, images }, { turnId: turn_id })
      return { ...newTurn('1', { text, images }, 0), state: 'failed', fault }
    },
    stop() {},
  })
  asking.ask(asked('Did it arrive?'), { names: [] })
  await new Promise(setImmediate)
  expect(queue.lineOf(SESSION).waiting).toEqual([])
})

test('a browser without room keeps no draft, and the page has it', () => {
  const drafts = createDrafts(storageOf({ isFull: true }))
  expect(drafts.fresh(() => SESSION)).toBe(SESSION)
  expect(drafts.isFresh(SESSION)).toBe(true)
  drafts.change(SESSION, () => ({ text: 'Half a thought' }))
  expect(drafts.read(SESSION).text).toBe('Half a thought')
  expect(drafts.fresh(() => 'play-2')).toBe(SESSION)
})
