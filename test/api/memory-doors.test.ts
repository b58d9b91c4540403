import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { ask, greetedBoard, voice } from '../support/board.ts'
import { deviceClient } from '../support/devices.ts'
import { askedOf, callsTool, memoryClient, written } from '../support/memories.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({
    upstream: baseUrl,
    env: { MB_TRUST_PROXY: '1', MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl },
  })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const person = async (mail: string) =>
  memoryClient(`${app.url}/console`, (await app.person(mail)).headers)
const shared = { memory: 'tenant' }

test('a board remembers and forgets what it is told aloud, as its device', async () => {
  const mail = 'board@example.com'
  const key = await app.key(mail)
  const all = memoryClient(`${app.url}/v1`, key.headers)
  const owner = await person(mail)
  await owner.call('PUT', '/settings', shared)
  const { socket, id } = await greetedBoard(app, deviceClient(app, key))
  upstream.transcriptions.reply({ text: '这个房间是蓝色的' })
  callsTool(upstream, 'remember', { text: '房间是蓝色的' })
  upstream.reply({ text: '记住了。' })
  socket.send({ type: 'listen', state: 'start', mode: 'auto' })
  await socket.speak(voice(1))
  await socket.next('tts', 'stop')
  const subject = `?subject=device:${id}`
  const [fact] = await all.list(subject)
  expect(fact).toMatchObject({ text: '房间是蓝色的', source: 'tool', session_id: `dev-${id}` })
  callsTool(upstream, 'forget', { id: fact?.id })
  upstream.reply({ text: '忘记了。' })
  ask(socket, '忘记房间的颜色')
  await socket.next('tts', 'stop')
  expect(await all.list(subject)).toEqual([])
  await socket.close()
})

test('messages, responses and Ollama take the subject of the header, and MCP none', async () => {
  const mail = 'doors@example.com'
  const key = await app.key(mail)
  const all = memoryClient(`${app.url}/v1`, key.headers)
  await (await person(mail)).call('PUT', '/settings', shared)
  await all.tell({ subject: 'ann', text: 'Has a parrot' })
  const messages = [{ role: 'user', content: 'hi' }]
  const headers = { 'x-moonbase-subject': 'ann' }
  const call = caller(app.url, key.headers)
  const bodies = [
    ['/v1/messages', { model: 'moonbase', max_tokens: 100, messages }],
    ['/v1/responses', { model: 'moonbase', input: 'hi' }],
    ['/ollama/api/chat', { model: 'moonbase', stream: false, messages }],
  ] as const
  for (const [path, body] of bodies) {
    upstream.reset()
    const text = `Told at ${path}`
    callsTool(upstream, 'remember', { text })
    const answer = await call('POST', path, body, headers)
    expect([path, answer.status]).toEqual([path, 200])
    expect(askedOf(upstream).system).toContain('parrot')
    expect((await all.list('?subject=ann')).map((fact) => fact.text)).toContain(text)
    expect(answer.text).toContain(text)
  }
  const asked = { name: 'ask_agent', arguments: { text: 'hi' } }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: asked }
  upstream.reset()
  await call('POST', '/mcp', rpc, { ...headers, accept: 'application/json, text/event-stream' })
  expect(askedOf(upstream).system).not.toContain('parrot')
  expect(askedOf(upstream).tools).not.toContain('remember')
})

test('facts of a person end with the membership whose talks are deleted', async () => {
  const owner = await person('host@example.com')
  const mate = await person('mate@example.com')
  const { tenantId } = await app.person('host@example.com')
  const body = { email: 'mate@example.com', role: 'viewer' }
  const member = (await owner.call<{ id: string }>('POST', '/members', body)).json()
  const root = caller(app.url, mate.headers)
  await root('POST', '/auth/tenant', { tenant_id: tenantId })
  const fact = await mate.tell({ text: 'Whistles' })
  expect(await mate.list()).toHaveLength(1)
  expect((await owner.call('GET', '/memories?subject=device:none')).status).toBe(404)
  expect((await mate.call('GET', '/memories?subject=ann')).status).toBe(403)
  expect((await mate.call('GET', '/memories/subjects')).status).toBe(403)
  expect((await owner.call('DELETE', `/memories/${fact.id}`)).status).toBe(404)
  await owner.call('DELETE', `/members/${member.id}?talks=delete`)
  const subjects = await owner.call<{ subjects: object[] }>('GET', '/memories/subjects')
  expect(subjects.json().subjects).toEqual([])
})

test('two at once tell the same fact once, and one of them gets the last place', async () => {
  const mail = 'twice@example.com'
  const all = memoryClient(`${app.url}/v1`, (await app.key(mail)).headers)
  await (await person(mail)).call('PUT', '/settings', shared)
  callsTool(upstream, 'remember', { text: 'Sails' })
  callsTool(upstream, 'remember', { text: 'sails' })
  const asks = ['a', 'b'].map((session_id) => all.ask({ text: 'hi', subject: 'x', session_id }))
  await Promise.all(asks)
  expect(await all.list('?subject=x')).toHaveLength(1)
  for (let i = 0; i < 98; i++) await all.tell({ subject: 'x', text: `fact ${i}` })
  const texts = ['last', 'also last']
  const told = await Promise.all(
    texts.map((text) => all.call('POST', '/memories', { subject: 'x', text })),
  )
  expect(told.map(({ status }) => status).sort()).toEqual([201, 403])
})

test('what was written is told before the stats, once it is stored', async () => {
  const mail = 'over@example.com'
  const all = memoryClient(`${app.url}/v1`, (await app.key(mail)).headers)
  const owner = await person(mail)
  await owner.call('PUT', '/settings', shared)
  callsTool(upstream, 'remember', { text: 'Kept' })
  const events = await all.ask({ text: 'hi', subject: 'y' })
  expect(written(events).map(({ text }) => text)).toEqual(['Kept'])
  expect(events.findIndex(({ type }) => type === 'memory')).toBeLessThan(
    events.findIndex(({ type }) => type === 'stats'),
  )
})
