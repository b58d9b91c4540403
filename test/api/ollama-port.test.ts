import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { detectLocalServer } from '../../src/channels/openai/detect.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { tempFolder } from '../support/temp.ts'

let app: TestApp
let key: TestKey
let port: string
const folder = tempFolder()

/** The key is made by a first server, which the second one's setting names. */
beforeAll(async () => {
  const env = { MB_DATA_DIR: folder.path }
  {
    await using first = await startApp({ env })
    key = await first.key()
  }
  const keyless = { MB_OLLAMA_PORT: '0', MB_OLLAMA_KEY: key.key }
  const origins = { MB_OLLAMA_ORIGINS: 'https://pages.example' }
  app = await startApp({ env: { ...env, ...keyless, ...origins } })
  port = `http://127.0.0.1:${app.ollamaPort}`
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${port}${path}`, { headers })
const chat = (headers: Record<string, string> = {}) =>
  fetch(`${port}/api/chat`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] }),
  })

test('the port answers without a key, as an editor asks', async () => {
  expect(await (await get('/')).text()).toBe('Ollama is running')
  expect(await (await get('/api/version')).json()).toEqual({ version: '0.30.0' })
  const { models } = await (await get('/api/tags')).json()
  expect(models[0].name).toBe('moonbase:latest')
  for (const authorization of ['', 'Bearer ', 'Bearer sk-mb-unknown']) {
    expect((await chat(authorization === '' ? {} : { authorization })).status).toBe(200)
  }
  const completion = await fetch(`${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer ' },
    body: JSON.stringify({ model: models[0].name, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect([completion.status, completion.headers.get('x-moonbase')]).toEqual([200, '1'])
})

test('a valid key acts itself on the port', async () => {
  const other = await app.key('b@example.com')
  const answer = await chat(other.headers)
  await answer.text()
  expect(answer.status).toBe(200)
  await app.flush()
  const logs = await (await fetch(`${app.url}/v1/logs`, other)).json()
  expect(logs.logs).toHaveLength(1)
})

test('nothing else of the server is on the port', async () => {
  for (const path of ['/healthz', '/console/me', '/metrics', '/v1/agent', '/ollama/api/tags']) {
    expect([path, (await get(path, { accept: 'text/html' })).status]).toEqual([path, 404])
  }
})

test('names bound to this machine and pages of strangers are refused everywhere', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
    expect([host, (await get('/', { host })).status]).toEqual([host, 403])
  }
  for (const host of ['box', 'box.local', 'box.home.arpa:1', '[::1]:99', '10.0.0.7']) {
    expect([host, (await get('/', { host })).status]).toEqual([host, 200])
  }
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
    const refused = await get('/api/tags', { origin })
    expect([origin, refused.status]).toEqual([origin, 403])
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    expect(refused.headers.get('x-request-id')).toMatch(/./)
  }
  const known = ['app://obsidian.md', 'http://localhost:3000', 'https://pages.example']
  for (const origin of [...known, 'vscode-webview://x']) {
    const answer = await get('/api/tags', { origin })
    expect([origin, answer.status]).toEqual([origin, 200])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  }
  const preflight = await fetch(`${port}/api/chat`, {
    method: 'OPTIONS',
    headers: { origin: 'app://obsidian.md', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
})

test('a server like this one is no model server that was found', async () => {
  const candidates = [{ name: 'Ollama', port: app.ollamaPort }]
  const look = { fetch: createUpstreamFetch(fetch), clock: systemClock(), candidates }
  expect(await detectLocalServer({ ...look, timeoutMs: 5_000 })).toBeNull()
  let asked = 0
  const own = createServer((socket) => socket.destroy(void asked++ as never))
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  const { port: ownPort } = own.address() as { port: number }
  const there = [{ name: 'Ollama', port: ownPort }]
  expect(await detectLocalServer({ ...look, candidates: there, ownPort })).toBeNull()
  expect(asked).toBe(0)
  own.close()
})

test('a revoked key closes the port, but not its first page', async () => {
  const owner = await app.person()
  const revoked = await fetch(`${app.url}/console/keys/${key.id}`, {
    method: 'DELETE',
    headers: { ...owner.headers, origin: app.url },
  })
  expect(revoked.ok).toBe(true)
  expect((await chat()).status).toBe(401)
  expect((await get('/')).status).toBe(200)
})
