import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { startPageServer } from '../support/page-server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { make, type Sink, startSink } from '../support/webhooks.ts'

/** A change and what webhooks are told of it are one commit: none is stored without the other. */

let upstream: Upstream
let app: TestApp
let clock: FakeClock
let count = 0

beforeAll(async () => {
  upstream = await startUpstream()
  clock = fakeClock({ start: Date.now(), repeats: false })
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  // Waits are over at once: the test itself starts what is due.
  const hurried = { ...clock, sleep: async () => {} }
  app = await startApp({ upstream: upstream.baseUrl, clock: hurried, env })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function listener(sink: Sink, events: readonly string[]) {
  const call = await surfaceOf(app, '/console', `commits-${count++}@example.com`)
  await make(call, sink.url, { events })
  return call
}

/** Runs `work` while nothing can be queued for webhooks. */
async function untold<Result>(work: () => Promise<Result>): Promise<Result> {
  const rename = (from: string, to: string) =>
    app.db.run({ sql: `ALTER TABLE ${from} RENAME TO ${to}`, args: [] })
  await rename('webhook_delivery', 'away')
  try {
    return await work()
  } finally {
    await rename('away', 'webhook_delivery')
  }
}

async function toldTo(sink: Sink) {
  await app.jobs.idle()
  return sink.received.map(({ body }) => JSON.parse(body).type)
}

test('an MCP server fails when that can be told', async () => {
  using sink = startSink()
  using server = startMcpServer()
  const call = await listener(sink, ['mcp.failed', 'mcp.tools_changed'])
  const made = await call<{ id: string }>('POST', '/mcp-servers', { name: 'one', url: server.url })
  const refresh = () => call('POST', `/mcp-servers/${made.json().id}/refresh`, {})
  const stateNow = async () => {
    const { servers } = (await call<{ servers: { state: string }[] }>('GET', '/mcp-servers')).json()
    return servers[0]?.state
  }
  await refresh()
  server.fails(() => new Response('no', { status: 500 }))
  expect((await untold(refresh)).status).toBe(500)
  expect(await stateNow()).toBe('ready')
  await refresh()
  expect(await stateNow()).toBe('failed')
  expect(await toldTo(sink)).toEqual(['mcp.failed'])
})

test('tools change when that can be told, at two listings at once too', async () => {
  using sink = startSink()
  using server = startMcpServer()
  const call = await listener(sink, ['mcp.tools_changed'])
  const made = await call<{ id: string }>('POST', '/mcp-servers', { name: 'two', url: server.url })
  const { id } = made.json()
  const refresh = () => call('POST', `/mcp-servers/${id}/refresh`, {})
  await refresh()
  server.lists([{ name: 'other', inputSchema: { type: 'object' } }])
  expect((await untold(refresh)).status).toBe(500)
  await Promise.all([refresh(), refresh(), refresh()])
  expect(await toldTo(sink)).toEqual(['mcp.tools_changed'])
  await refresh()
  expect(await toldTo(sink)).toEqual(['mcp.tools_changed'])
})

test('a source is ready, and one has failed, when that can be told', async () => {
  using sink = startSink()
  using good = startPageServer()
  using bad = startPageServer()
  good.html('<title>Good</title><p>The car park closes at 22:00.</p>')
  const call = await listener(sink, ['source.ready', 'source.failed'])
  const states = async () => {
    const { sources } = (await call<{ sources: Source[] }>('GET', '/kb/sources')).json()
    return Object.fromEntries(sources.map(({ title, state }) => [title, state]))
  }
  await untold(async () => {
    await call('POST', '/kb/urls', { url: good.url, title: 'Good' })
    await call('POST', '/kb/urls', { url: bad.url, title: 'Bad' })
    await app.jobs.idle()
  })
  const before = await states()
  expect([before.Good, before.Bad]).not.toContain('ready')
  expect([before.Good, before.Bad]).not.toContain('failed')
  // Good is tried again after its wait, as when the embedder fails.
  clock.advance(11_000)
  await app.startSources()
  await app.jobs.idle()
  expect(await states()).toEqual({ Good: 'ready', Bad: 'failed' })
  expect((await toldTo(sink)).sort()).toEqual(['source.failed', 'source.ready'])
})
