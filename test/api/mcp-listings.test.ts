import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { type McpStandIn, type ScriptedTool, startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import { startNameServer } from '../support/name-server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock({ timers: 'moved' })
let upstream: Upstream
let app: TestApp
let server: McpStandIn

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  app = await startApp({
    upstream: upstream.baseUrl,
    clock,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterEach(() => server.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})

const fresh = (): Promise<McpTenant> => mcpTenant(app, upstream)
const add = async (url = server.url): Promise<McpServer> => (await fresh()).add(url)

/** The tools that a server's listing became. */
async function listed(...tools: readonly ScriptedTool[]) {
  server.lists(tools)
  return (await add()).tools
}

const withSchema = (inputSchema: unknown): ScriptedTool => ({ name: 'a', inputSchema })

describe('a server that breaks the protocol', () => {
  const page = (text: string) => new Response(text, { headers: { 'content-type': 'text/html' } })
  const rpc = (result: object) => Response.json({ jsonrpc: '2.0', id: 1, result })
  test.each([
    ['a page', () => page('<html>SECRET'), 'malformed'],
    ['nothing', () => new Response(null, { status: 202 }), 'malformed'],
    ['404', () => new Response('SECRET', { status: 404 }), 'malformed'],
    ['401', () => new Response('SECRET', { status: 401 }), 'refused'],
    ['403', () => new Response('SECRET', { status: 403 }), 'refused'],
    ['500', () => new Response('SECRET', { status: 500 }), 'unreachable'],
    ['429', () => new Response('SECRET', { status: 429 }), 'unreachable'],
    ['5 MB', () => new Response('x'.repeat(5_000_000)), 'too_large'],
    ['deep JSON', () => new Response('['.repeat(500_000)), 'malformed'],
    ['a redirect', () => Response.redirect('http://127.0.0.1:1/', 302), 'malformed'],
    ['packed JSON', () => packed('{}'), 'malformed'],
    ['an unknown revision', () => rpc({ protocolVersion: '2031-01-01' }), 'malformed'],
    ['an endless stream', () => endless(), 'too_large'],
  ] as const)('a server that answers with %s is kept as failed', async (_, answer, reason) => {
    server.fails(() => answer())
    const { api } = await fresh()
    const body = { name: 'home', url: server.url }
    const made = await api<McpServer>('POST', '/mcp-servers', body)
    expect(made.json()).toMatchObject({ state: 'failed', error_class: reason, tools: [] })
    expect(made.text + app.log()).not.toContain('SECRET')
  })

  test('a server that hangs in its list is given up after ten seconds', async () => {
    const { api } = await fresh()
    const asked = server.asked('tools/list')
    server.fails((_, message) => (message?.method === 'tools/list' ? new Promise(() => {}) : null))
    const adding = api<McpServer>('POST', '/mcp-servers', { name: 'home', url: server.url })
    await asked
    clock.advance(10_000)
    expect((await adding).json()).toMatchObject({ state: 'failed', error_class: 'timeout' })
  })

  test('a server that begins an answer and hangs is given up, too', async () => {
    const { api } = await fresh()
    const asked = server.asked('tools/list')
    server.fails((_, message) =>
      message?.method === 'tools/list' ? new Response(new ReadableStream({})) : null,
    )
    const adding = api<McpServer>('POST', '/mcp-servers', { name: 'home', url: server.url })
    await asked
    clock.advance(10_000)
    expect((await adding).json()).toMatchObject({ state: 'failed', error_class: 'timeout' })
  })

  test('a server of an older revision may be silent at the question of today', async () => {
    using old = startMcpServer({ era: 'sessions' })
    old.fails((_, message) =>
      message?.method === 'server/discover' ? new Promise(() => {}) : null,
    )
    const { api } = await fresh()
    const asked = old.asked('server/discover')
    const adding = api<McpServer>('POST', '/mcp-servers', { name: 'home', url: old.url })
    await asked
    clock.advance(3_000)
    expect((await adding).json()).toMatchObject({ state: 'ready', protocol: '2025-11-25' })
  })

  test('an MCP server is asked in its last revision, until it refuses', async () => {
    using old = startMcpServer({ era: 'sessions' })
    const { add, api } = await fresh()
    const { id } = await add(old.url)
    const refreshed = async () =>
      (await api<McpServer>('POST', `/mcp-servers/${id}/refresh`)).json().protocol
    expect(old.methods()[0]).toBe('server/discover')
    old.received.length = 0
    expect(await refreshed()).toBe('2025-11-25')
    expect(old.methods()).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
    using today = startMcpServer({ era: 'modern' })
    old.fails(({ headers }, rpc) =>
      fetch(today.url, { method: 'POST', headers, body: JSON.stringify(rpc) }),
    )
    expect(await refreshed()).toBe('2026-07-28')
  })

  test('a list of pages without end is too large', async () => {
    server.fails((_, message) => {
      if (message?.method !== 'tools/list') return null
      const result = { resultType: 'complete', tools: [], nextCursor: 'more' }
      return Response.json({ jsonrpc: '2.0', id: message.id, result })
    })
    expect(await add()).toMatchObject({ state: 'failed', error_class: 'too_large' })
    expect(server.methods().filter((method) => method === 'tools/list')).toHaveLength(20)
  })

  test('the pages of a list are joined', async () => {
    server.fails((_, message) => {
      if (message?.method !== 'tools/list') return null
      const cursor = (message.params as { cursor?: string }).cursor
      const tools = [{ name: cursor ?? 'first', inputSchema: { type: 'object' } }]
      const result = { resultType: 'complete', tools, ...(cursor ? {} : { nextCursor: 'second' }) }
      return Response.json({ jsonrpc: '2.0', id: message.id, result })
    })
    expect((await add()).tools.map(({ name }) => name)).toEqual(['first', 'second'])
  })

  test('the answer in an event stream is found among other messages of the server', async () => {
    server.fails((_, message) => {
      if (message?.method !== 'tools/list') return null
      const tools = [{ name: 'streamed', inputSchema: { type: 'object' } }]
      const answer = { jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', tools } }
      const events = [
        { jsonrpc: '2.0', method: 'notifications/message', params: {} },
        { jsonrpc: '2.0', id: message.id, method: 'sampling/createMessage', params: {} },
        answer,
      ]
      const text = events.map((event) => `event: message\ndata: ${JSON.stringify(event)}\n\n`)
      return new Response(`: hello\n\n${text.join('')}`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    })
    expect((await add()).tools.map(({ name }) => name)).toEqual(['streamed'])
    expect(server.methods()).toEqual(['server/discover', 'tools/list'])
  })
})

function packed(text: string): Response {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  return new Response(Bun.gzipSync(text), { headers })
}

function endless(): Response {
  const comment = new TextEncoder().encode(`: ${'x'.repeat(60_000)}\n\n`)
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(comment) })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

describe('a listed tool', () => {
  test('a malformed tool makes itself unusable, and not the list', async () => {
    const tools = await listed(
      { name: 42 },
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'text', inputSchema: 'text' },
      { name: 'list', inputSchema: { type: 'array' } },
      null as never,
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'bare' },
    )
    expect(tools.map(({ name, state, reason }) => [name, state, reason])).toEqual([
      ['#1', 'unusable', 'malformed'],
      ['good', 'new', null],
      ['text', 'unusable', 'malformed'],
      ['list', 'unusable', 'no_object'],
      ['#5', 'unusable', 'malformed'],
      ['good#6', 'unusable', 'duplicate'],
      ['bare', 'new', null],
    ])
  })

  test.each([
    ['itself', { properties: { next: { $ref: '#' } } }, 'recursive'],
    [
      'a definition of itself',
      { $defs: { a: { items: { $ref: '#/$defs/a' } } }, properties: { x: { $ref: '#/$defs/a' } } },
      'recursive',
    ],
    [
      'another address',
      { properties: { x: { $ref: 'https://a.example.com/s.json' } } },
      'remote_ref',
    ],
    ['nothing', { properties: { x: { $ref: '#/$defs/none' } } }, 'dangling_ref'],
  ])('a schema that refers to %s is unusable', async (_, schema, reason) => {
    const [tool] = await listed(withSchema({ type: 'object', ...schema }))
    expect(tool).toMatchObject({ state: 'unusable', reason })
  })

  test('a large list is read as a small one is', async () => {
    const description = 'x'.repeat(2_000)
    const inputSchema = { type: 'object', description: 'y'.repeat(5_000) }
    const many = Array.from({ length: 100 }, (_, i) => ({
      name: `t${i}`,
      description,
      inputSchema,
    }))
    const tools = await listed(...many, { name: 'huge', description: 'z'.repeat(200_000) })
    expect(tools).toHaveLength(101)
    expect(tools[0]).toMatchObject({ name: 't0', state: 'new' })
    expect(tools[100]).toMatchObject({ name: 'huge', state: 'unusable', reason: 'too_large' })
  })

  test('an unusable tool cannot be approved', async () => {
    const { add, api } = await fresh()
    server.lists([{ name: 'a', inputSchema: 'no' }])
    const { id } = await add(server.url)
    const answer = await api<McpServer>('PUT', `/mcp-servers/${id}/tools`, {
      approved: ['a', '#1'],
    })
    expect(answer.json().tools).toMatchObject([{ state: 'unusable' }])
  })

  test('a hash keeps tool names distinct that models cannot take', async () => {
    const tools = await listed(
      { name: 'read.file' },
      { name: 'read file' },
      { name: '打开灯' },
      { name: 'x'.repeat(100) },
    )
    const names = tools.map((tool) => tool.call_name)
    expect(new Set(names).size).toBe(4)
    for (const name of names) expect(name).toMatch(/^home__[A-Za-z0-9_-]{1,58}$/)
    expect(names[0]).toMatch(/^home__read_file_[0-9a-f]{8}$/)
    expect(names[2]).toBe('home_____')
    expect(names[3]).toMatch(/^home__x{49}_[0-9a-f]{8}$/)
  })

  test('a tool that only reads destroys nothing unless it says so', async () => {
    const tools = await listed(
      { name: 'a', annotations: { readOnlyHint: true } },
      { name: 'b', annotations: { destructiveHint: false } },
      { name: 'c', title: 'Light', annotations: {} },
    )
    expect(tools).toMatchObject([
      { read_only: true, destructive: false },
      { read_only: false, destructive: false },
      { read_only: false, destructive: true, title: 'Light' },
    ])
  })

  test('a header that breaks its rules makes a tool unusable', async () => {
    const bad = { type: 'number', 'x-mcp-header': 'Region' }
    const [tool] = await listed(withSchema({ type: 'object', properties: { bad } }))
    expect(tool).toMatchObject({ state: 'unusable', reason: 'header' })
  })
})

test('a name that leads to an internal address is refused when it is connected to', async () => {
  let address = '93.184.216.34'
  await using names = await startNameServer(() => address)
  await using guarded = await startApp({ nameServer: names.address, upstream: upstream.baseUrl })
  const { api } = await mcpTenant(guarded, upstream)
  address = '127.0.0.1'
  const url = server.url.replace('127.0.0.1', 'rebound.example.com')
  const made = await api<McpServer>('POST', '/mcp-servers', { name: 'home', url })
  expect(made.json()).toMatchObject({ state: 'failed', error_class: 'guarded' })
  const again = await api('POST', `/mcp-servers/${made.json().id}/refresh`)
  expect([again.status, again.headers.get('x-error-code')]).toEqual([400, 'mcp_guarded'])
  expect(server.received).toEqual([])
})
