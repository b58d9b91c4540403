import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { request as open } from 'node:http'
import { json } from 'node:stream/consumers'
import { startApp, type TestApp } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const MB = 1024 * 1024
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

type Asked = readonly [method: string, path: string, body?: object]

const messages = [{ role: 'user', content: 'hi' }]
const ofMessages = (type: string) => ({
  type: 'error',
  error: { type, message: expect.any(String) },
  request_id: expect.any(String),
})
const ofOllama = () => ({ error: expect.any(String) })

test.each([
  ['/v1/messages', 48, ofMessages('request_too_large')],
  ['/v1/messages/count_tokens', 48, ofMessages('request_too_large')],
  ['/ollama/api/chat', 48, ofOllama()],
  ['/ollama/api/generate', 48, ofOllama()],
  ['/ollama/api/embed', 1, ofOllama()],
  ['/ollama/api/show', 1, ofOllama()],
])('%s takes at most %i MB, by the announced length', async (path, limit, form) => {
  const { headers } = await app.key()
  const announce = async (bytes: number) => {
    const length = { 'content-length': bytes, 'content-type': 'application/json' }
    const asked = open(`${app.url}${path}`, { method: 'POST', headers: { ...headers, ...length } })
    asked.on('error', () => {})
    asked.write('{')
    const [response] = await once(asked, 'response')
    const answer = { status: response.statusCode, body: await json(response) }
    asked.destroy()
    return { ...answer, code: response.headers['x-error-code'] }
  }
  const refused = await announce(limit * MB + 1)
  expect(refused).toEqual({ status: 413, body: form, code: expect.any(String) })
  expect(upstream.requests).toEqual([])
})

test('a key that has spent its tokens still counts and polls, and has no turns', async () => {
  const key = await app.key(undefined, { dailyTokens: 1 })
  const call = ([method, path, body]: Asked) =>
    fetch(`${app.url}${path}`, {
      method,
      headers: { ...key.headers, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const turns: readonly Asked[] = [
    ['POST', '/v1/messages', { messages, max_tokens: 9 }],
    ['POST', '/v1/messages', { messages, max_tokens: 9, stream: true }],
    ['POST', '/ollama/api/chat', { messages }],
    ['POST', '/ollama/api/generate', { prompt: 'hi' }],
  ]
  const free: readonly Asked[] = [
    ['POST', '/v1/messages/count_tokens', { messages }],
    ['GET', '/v1/models?limit=1000'],
    ['GET', '/ollama/api/version'],
    ['GET', '/ollama/api/tags'],
    ['GET', '/ollama/api/ps'],
    ['POST', '/ollama/api/show', { model: 'moonbase' }],
    ['POST', '/ollama/api/pull', { model: 'moonbase' }],
  ]
  expect((await call(turns[0] as Asked)).status).toBe(200)
  await app.flush()
  upstream.reset()
  for (const turn of turns) {
    const refused = await call(turn)
    const form = turn[1].startsWith('/v1') ? ofMessages('rate_limit_error') : ofOllama()
    expect([turn, refused.status, await refused.json()]).toEqual([turn, 429, form])
    expect(refused.headers.get('x-error-code')).toBe('budget_spent')
  }
  for (const poll of free) expect([poll, (await call(poll)).status]).toEqual([poll, 200])
  expect(upstream.requests.filter(({ path }) => path === '/chat/completions')).toEqual([])
})

test('probes leave no line in the log, and vectors and chats have their labels', async () => {
  const key = await app.key('labels@example.com')
  const headers = { ...key.headers, 'content-type': 'application/json' }
  const before = app.log().length
  const hello = await fetch(`${app.url}/api/hello`, { method: 'HEAD' })
  expect(hello.status).toBe(404)
  await app.flush()
  expect(app.log().slice(before)).toBe('')
  for (const [path, body] of [
    ['/ollama/api/generate', { prompt: 'hi', stream: false }],
    ['/ollama/api/chat', { messages, stream: false }],
    ['/ollama/api/embed', { input: 'hi' }],
    ['/ollama/api/embeddings', { prompt: 'hi' }],
    ['/v1/messages', { messages, max_tokens: 9 }],
  ] as const) {
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(app.url + path, options)
    expect([path, answer.status]).toEqual([path, 200])
    await answer.text()
  }
  await app.flush()
  const rows = await (await fetch(`${app.url}/v1/logs?limit=50`, { headers })).json()
  expect(rows.logs.map(({ endpoint }: { endpoint: string }) => endpoint).sort()).toEqual([
    '/ollama/chat',
    '/ollama/embed',
    '/ollama/embed',
    '/ollama/generate',
    '/v1/messages',
  ])
})

test('a message that its one token has cut before a word is one empty text', async () => {
  const { headers } = await app.key()
  upstream.reply({ text: '', finish: 'length' })
  const answer = await fetch(`${app.url}/v1/messages`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ messages, max_tokens: 1 }),
  })
  expect(await answer.json()).toMatchObject({
    content: [{ type: 'text', text: '' }],
    ...{ stop_reason: 'max_tokens', stop_sequence: null, stop_details: null },
  })
})
