import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function tenant(email: string) {
  const { headers } = await app.person(email)
  const call = caller(`${app.url}/console`, headers)
  const ask = async (fields: object) => {
    const body = { text: 'hi', session_id: 'draft', ...fields }
    const stream = await postSse(`${app.url}/console/agent`, { headers, body })
    await stream.all()
    return { status: stream.status, asked: upstream.requests.at(-1)?.body }
  }
  return { call, ask }
}
type Tools = { function: { name: string } }[] | undefined

test('a turn with a draft runs as an app with these fields would, and changes no app', async () => {
  const { call, ask } = await tenant('a@example.com')
  const saved = { name: 'shop', system_prompt: 'SAVED', model: 'saved-model', thinking: true }
  const { id } = (await call<{ id: string }>('POST', '/apps', saved)).json()
  const persona = { name: 'p', prompt: 'PIRATE' }
  const { id: personaId } = (await call<{ id: string }>('POST', '/personas', persona)).json()
  const before = (await call('GET', `/apps/${id}`)).text

  const draft = { system_prompt: 'DRAFT', temperature: 0.3, tools_enabled: ['calculator'] }
  const { asked } = await ask({ app_id: id, draft })
  expect(asked).toMatchObject({ model: 'fake', temperature: 0.3 })
  expect(JSON.stringify(asked?.messages[0])).toContain('DRAFT')
  expect(JSON.stringify(asked)).not.toContain('SAVED')
  expect((asked?.tools as Tools)?.map((tool) => tool.function.name)).toEqual(['calculator'])

  const second = await ask({ draft: { persona_id: personaId } })
  expect(JSON.stringify(second.asked?.messages[0])).toContain('PIRATE')
  expect((await call('GET', `/apps/${id}`)).text).toBe(before)
})

test("a draft is checked as an app is, and another tenant's persona is none", async () => {
  const owner = await tenant('b@example.com')
  const persona = { name: 'p', prompt: 'THEIRS' }
  const { id } = (await owner.call<{ id: string }>('POST', '/personas', persona)).json()
  const { ask } = await tenant('c@example.com')
  const { asked } = await ask({ draft: { persona_id: id } })
  expect(JSON.stringify(asked)).not.toContain('THEIRS')
  expect((await ask({ draft: { temperature: 3 } })).status).toBe(400)
  expect((await ask({ draft: 'x' })).status).toBe(400)
})

test('a key has no drafts', async () => {
  const { headers } = await app.key('a@example.com')
  const body = { text: 'hi', draft: { system_prompt: 'DRAFT' } }
  await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
  expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('DRAFT')
})

test('one turn has another model and another length, and says so afterwards', async () => {
  const { call, ask } = await tenant('d@example.com')
  const saved = { name: 'shop', system_prompt: 'SAVED', model: 'saved-model' }
  const { id } = (await call<{ id: string }>('POST', '/apps', saved)).json()
  const { asked } = await ask({ app_id: id, model: 'other-model', answer_words: 120 })
  expect(asked).toMatchObject({ model: 'other-model' })
  expect(asked?.messages[0]?.content).toMatch(/^SAVED.*约 120 字/s)
  expect(asked?.messages.at(-1)?.content).toBe('hi')
  const next = await ask({ app_id: id })
  expect(next.asked).toMatchObject({ model: 'saved-model' })
  expect(JSON.stringify(next.asked)).not.toContain('120')

  type Told = { turns: { user_text: string; details: { model: string; answer_words?: number } }[] }
  const { turns } = (await call<Told>('GET', '/sessions/draft/transcript')).json()
  expect(turns.map(({ user_text }) => user_text)).toEqual(['hi', 'hi'])
  const [plain, wished] = turns.map(({ details }) => details)
  expect(wished).toMatchObject({ model: 'other-model', answer_words: 120 })
  expect(plain).not.toHaveProperty('answer_words')
  const { headers } = await app.key('d@example.com')
  const byKey = await caller(`${app.url}/v1`, headers)<Told>('GET', '/sessions/draft/transcript')
  expect(byKey.text).not.toContain('answer_words')
})

test('the length of an answer is a whole number, and is bounded', async () => {
  const { ask } = await tenant('e@example.com')
  expect((await ask({ answer_words: 1.5 })).status).toBe(400)
  expect((await ask({ answer_words: 'short' })).status).toBe(400)
  expect(JSON.stringify((await ask({ answer_words: 1 })).asked)).toContain('约 10 字')
  expect(JSON.stringify((await ask({ answer_words: 1e9 })).asked)).toContain('约 5000 字')
})
