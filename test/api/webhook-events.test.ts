import { afterAll, beforeAll, expect, test } from 'bun:test'
import { WEBHOOK_EVENTS } from '../../src/core/limits/contract.ts'
import { type Call, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { deviceClient } from '../support/devices.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { type Sink, startSink } from '../support/webhooks.ts'

let upstream: Upstream
let app: TestApp
let clock: FakeClock
let count = 0

beforeAll(async () => {
  upstream = await startUpstream()
  clock = fakeClock({ start: Date.now(), repeats: false })
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  app = await startApp({ upstream: upstream.baseUrl, clock, env })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function listener(sink: Sink) {
  const mail = `events-${count++}@example.com`
  const call = await surfaceOf(app, '/console', mail)
  const body = { name: 'n', url: sink.url, events: WEBHOOK_EVENTS }
  expect((await call('POST', '/webhooks', body)).status).toBe(201)
  return { mail, call }
}

/** What was told so far, without times. */
async function toldTo(sink: Sink) {
  await app.jobs.idle()
  return sink.received.map(({ body }) => {
    const { type, data } = JSON.parse(body)
    return { type, ...data }
  })
}

test('a page that is read, and one that is not', async () => {
  using sink = startSink()
  const { call } = await listener(sink)
  const url = `${upstream.baseUrl}/none`
  const { id } = (await call<{ id: string }>('POST', '/kb/urls', { url, title: 'Page' })).json()
  expect(await toldTo(sink)).toEqual([
    { type: 'source.failed', source_id: id, title: 'Page', error_class: expect.any(String) },
  ])
})

test('a thumb down, once', async () => {
  using sink = startSink()
  const { mail, call } = await listener(sink)
  const { headers } = await app.person(mail)
  const body = { text: 'hello', session_id: 's-1' }
  await (await postSse(`${app.url}/console/agent`, { headers, body })).all()
  const path = '/sessions/s-1/turns/1/feedback'
  const give = (rating: number) => call('PUT', path, { rating, reason: 'wrong' })
  const thumbs = await Promise.all([-1, -1, -1, -1].map(give))
  expect(thumbs.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const rating of [-1, 1]) await give(rating)
  expect(await toldTo(sink)).toEqual([
    { type: 'feedback.down', session_id: 's-1', seq: 1, app_id: null, reason: 'wrong' },
  ])
})

test('a device that comes, and is silent for five minutes', async () => {
  using sink = startSink()
  const { mail } = await listener(sink)
  const { id, device } = await deviceClient(app, await app.key(mail)).pair()
  const beat = () =>
    fetch(`${app.url}/v1/devices/heartbeat`, {
      ...{ method: 'POST', headers: device.headers, body: '{}' },
    })
  expect((await beat()).status).toBe(200)
  await app.webhooks.look()
  await app.webhooks.look()
  const online = { type: 'device.online', device_id: id, name: expect.any(String) }
  expect(await toldTo(sink)).toEqual([online])
  clock.advance(5 * 60_000 + 1)
  await app.webhooks.look()
  await app.webhooks.look()
  expect(await toldTo(sink)).toMatchObject([online, { type: 'device.offline' }])
  await beat()
  await app.webhooks.look()
  expect(await toldTo(sink)).toMatchObject([online, { type: 'device.offline' }, online])
})

test('an MCP server that fails, and one whose tools change', async () => {
  using sink = startSink()
  using server = startMcpServer()
  const { call } = await listener(sink)
  const made = await call<{ id: string }>('POST', '/mcp-servers', { name: 'one', url: server.url })
  const { id } = made.json()
  await refreshed(call, id)
  expect(await toldTo(sink)).toEqual([])
  server.lists([{ name: 'other', inputSchema: { type: 'object' } }])
  await refreshed(call, id)
  await refreshed(call, id)
  expect(await toldTo(sink)).toEqual([
    { type: 'mcp.tools_changed', server_id: id, name: 'one', count: 1 },
  ])
  server.fails(() => new Response('no', { status: 500 }))
  await refreshed(call, id)
  await refreshed(call, id)
  expect((await toldTo(sink)).slice(1)).toEqual([
    { type: 'mcp.failed', server_id: id, name: 'one', count: null },
  ])
})

const refreshed = (call: Call, id: string) => call('POST', `/mcp-servers/${id}/refresh`, {})

test('a key that has used its tokens, once a day', async () => {
  using sink = startSink()
  const { mail } = await listener(sink)
  const key = await app.key(mail, { dailyTokens: 1 })
  const turn = () =>
    fetch(`${app.url}/v1/agent`, {
      ...{ method: 'POST', body: JSON.stringify({ text: 'hello' }) },
      headers: { ...key.headers, 'content-type': 'application/json' },
    }).then((answer) => answer.text())
  for (let i = 0; i < 3; i++) await turn()
  const spent = { type: 'budget.spent', key_id: key.id, prefix: expect.any(String) }
  expect(await toldTo(sink)).toEqual([spent])
  clock.advance(24 * 60 * 60_000)
  for (let i = 0; i < 3; i++) await turn()
  expect(await toldTo(sink)).toEqual([spent, spent])
})
