import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { appOf, memoryClient, shownIn } from '../support/memories.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({
    upstream: baseUrl,
    env: { MB_EMBED_BASE_URL: baseUrl, MB_EMBED_MODEL: 'fake' },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** How often this text was embedded. */
const embedded = (text: string) =>
  upstream.requests.filter(({ body }) => JSON.stringify(body.input ?? '').includes(text)).length

test('a turn embeds its question once, for facts and for passages', async () => {
  const { headers } = await appOf(app, 'question@example.com', { memory: 'tenant' })
  const owner = memoryClient(`${app.url}/v1`, (await app.key('question@example.com')).headers)
  await owner.call('POST', '/kb/docs', { title: 'Bikes', text: 'The bicycle is in the garage.' })
  for (let i = 0; i < 40; i++) await owner.tell({ subject: 'ann', text: `fact ${i}` })
  const client = memoryClient(`${app.url}/v1`, headers)
  const text = 'Where is the bicycle?'
  const first = await client.ask({ text, subject: 'ann', kb: true })
  expect(shownIn(first)).toEqual({ shown: 20 })
  expect(embedded(text)).toBe(1)
  const second = await client.ask({ text, subject: 'ann', kb: false })
  expect(shownIn(second)).toEqual({ shown: 20 })
  expect(embedded(text)).toBe(2)
})

test('a use is noted once a minute, and a fact that is new to the turn at once', async () => {
  const { headers } = await appOf(app, 'used@example.com', { memory: 'tenant' })
  const owner = memoryClient(`${app.url}/v1`, (await app.key('used@example.com')).headers)
  const client = memoryClient(`${app.url}/v1`, headers)
  await owner.tell({ subject: 'ann', text: 'one' })
  await client.ask({ text: 'hi', subject: 'ann', session_id: 's' })
  const [first] = await owner.list('?subject=ann')
  expect(first?.used_at).toEqual(expect.any(String))
  await owner.tell({ subject: 'ann', text: 'two' })
  await client.ask({ text: 'hi', subject: 'ann', session_id: 's' })
  const [two, one] = await owner.list('?subject=ann')
  expect(one?.used_at).toBe(first?.used_at ?? '')
  expect(two?.used_at).toEqual(expect.any(String))
})
