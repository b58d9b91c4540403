import { afterAll, beforeEach, expect, test } from 'bun:test'
import { everything } from '../../src/features/knowledge/collections/access.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { startApp } from '../support/app.ts'

/** Calls that the embedder was asked for and has not answered yet, by the word of their text. */
const waiting: { who: string; answer: () => void }[] = []
/** Who was asked for, in order. */
const order: string[] = []
let onAsked = () => {}
let held = false
const SEARCHES_AT_ONCE = 4
const embedder: Embedder = {
  id: 'held',
  lengthMax: 1_000,
  atOnce: { query: SEARCHES_AT_ONCE, passage: 1 },
  embed: (texts) =>
    new Promise((resolve) => {
      const answer = () => resolve(texts.map(() => new Float32Array([1, 0])))
      if (!held) return answer()
      const who = texts[0]?.includes('greedy') ? 'greedy' : 'modest'
      waiting.push({ who, answer })
      order.push(who)
      onAsked()
    }),
  close: async () => {},
}
const app = await startApp({ embedder })
afterAll(() => app[Symbol.asyncDispose]())

const [greedy, modest] = await Promise.all([app.key('greedy@x.com'), app.key('modest@x.com')])
const { service } = app.kb
for (const { tenantId } of [greedy, modest]) {
  await service.create(tenantId, { title: 't', text: 'known' })
}
beforeEach(() => {
  held = true
  order.length = 0
})

/** Resolves when the embedder has been asked `count` times. */
const asked = (count: number) =>
  new Promise<void>((resolve) => {
    onAsked = () => order.length >= count && resolve()
    onAsked()
  })

async function answerAll() {
  held = false
  for (const { answer } of waiting.splice(0)) answer()
}

test('a tenant alone uses the whole embedder, and another search is next', async () => {
  const many = Array.from({ length: 12 }, () =>
    service.search(everything(greedy.tenantId), 'greedy'),
  )
  await asked(SEARCHES_AT_ONCE)
  expect(order).toEqual(Array.from({ length: SEARCHES_AT_ONCE }, () => 'greedy'))
  const one = service.search(everything(modest.tenantId), 'modest')
  waiting.shift()?.answer()
  await asked(SEARCHES_AT_ONCE + 1)
  waiting.shift()?.answer()
  await asked(SEARCHES_AT_ONCE + 2)
  expect(order.slice(SEARCHES_AT_ONCE)).toContain('modest')
  await answerAll()
  expect(await Promise.all([...many, one])).toHaveLength(13)
})

test('documents of tenants are embedded in turn, some chunks at a time', async () => {
  const long = (who: string) => ({
    title: who,
    text: `# ${who}\n\n${'文'.repeat(600)}\n\n`.repeat(40),
  })
  const many = Array.from({ length: 3 }, () => service.create(greedy.tenantId, long('greedy')))
  await asked(1)
  const one = service.create(modest.tenantId, { title: 't', text: 'modest' })
  for (let answered = 1; answered <= 6; answered++) {
    waiting.shift()?.answer()
    await asked(answered + 1)
  }
  expect(order).toContain('modest')
  await answerAll()
  expect(await Promise.all([...many, one])).toHaveLength(4)
})

test('vectors for clients take turns with documents, and no search waits for them', async () => {
  const texts = Array.from({ length: 200 }, () => 'greedy')
  const signal = new AbortController().signal
  const many = app.embedderNow().embedTexts(greedy.tenantId, texts, 'query', signal)
  await asked(1)
  const search = service.search(everything(modest.tenantId), 'modest search')
  await asked(2)
  expect(order).toEqual(['greedy', 'modest'])
  waiting.pop()?.answer()
  await search
  const document = service.create(modest.tenantId, { title: 't', text: 'modest' })
  for (let answered = 1; answered <= 3; answered++) {
    waiting.shift()?.answer()
    await asked(answered + 2)
  }
  expect(order.slice(2)).toContain('modest')
  await answerAll()
  expect((await many).vectors).toHaveLength(200)
  await document
})

test('a very long text is embedded in parts, between which others have their turn', async () => {
  const signal = new AbortController().signal
  const texts = ['greedy '.repeat(20_000)]
  const one = app.embedderNow().embedTexts(greedy.tenantId, texts, 'passage', signal)
  await asked(1)
  const document = service.create(modest.tenantId, { title: 't', text: 'modest' })
  for (let answered = 1; answered <= 6; answered++) {
    waiting.shift()?.answer()
    await asked(answered + 1)
  }
  expect(order).toContain('modest')
  await answerAll()
  expect((await one).vectors).toEqual([new Float32Array([1, 0])])
  await document
})
