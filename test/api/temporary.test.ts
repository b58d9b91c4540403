import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let app: TestApp
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** A person whose workspace remembers facts. */
async function someone() {
  const { headers } = await app.person(`${crypto.randomUUID()}@example.com`)
  const call = caller(`${app.url}/console`, headers)
  expect((await call('PUT', '/settings', { memory: 'tenant', reminders: true })).status).toBe(200)
  const ask = async (body: object) => {
    const stream = await postSse(`${app.url}/console/agent`, { headers, body })
    return (await stream.all()).map(({ data }) => data)
  }
  return { call, ask }
}
const sent = () => upstream.requests.filter(({ path }) => path === '/chat/completions').at(-1)?.body

test('a temporary turn knows what its caller brings, and leaves nothing', async () => {
  const { call, ask } = await someone()
  upstream.reply({ text: 'Ada.' })
  const earlier = [{ text: 'I am Ada', reply: 'Hello Ada' }]
  const events = await ask({
    text: 'Who am I?',
    temporary: earlier,
    session_id: 'kept',
    detached: true,
    replace_last: true,
  })
  expect(events.at(-1)).toEqual({ type: 'llm_end', reply: 'Ada.' })
  expect(sent()?.messages.slice(-3)).toEqual([
    { role: 'user', content: 'I am Ada' },
    { role: 'assistant', content: 'Hello Ada' },
    { role: 'user', content: 'Who am I?' },
  ])
  const offered = JSON.stringify(sent()?.tools ?? [])
  expect(offered).toContain('current_time')
  expect(offered).not.toMatch(/remember|set_reminder/)
  const list = await call<{ conversations: unknown[] }>('GET', '/conversations')
  expect(list.json().conversations).toEqual([])
  for (const id of ['kept', 'anon']) {
    const history = await call<{ messages: unknown[] }>('GET', `/sessions/${id}/history`)
    expect(history.json().messages).toEqual([])
  }
})

test('the first question of a temporary talk brings nothing', async () => {
  const { ask } = await someone()
  upstream.reply({ text: 'yes' })
  expect((await ask({ text: 'hi', temporary: [] })).at(-1)).toMatchObject({ type: 'llm_end' })
  expect(sent()?.messages.at(-1)).toEqual({ role: 'user', content: 'hi' })
})

test.each([
  ['words', 'earlier'],
  ['a turn without a question', [{ text: '', reply: 'x' }]],
  ['a turn without an answer', [{ text: 'x' }]],
  ['too many turns', Array.from({ length: 201 }, () => ({ text: 'x', reply: 'y' }))],
])('%s in place of earlier turns is refused', async (_, temporary) => {
  const { call } = await someone()
  expect((await call('POST', '/agent', { text: 'hi', temporary })).status).toBe(400)
  expect(sent()).toBeUndefined()
})
