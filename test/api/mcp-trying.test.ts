import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type {
  McpCallResponse,
  McpDefinition,
  McpServer,
} from '../../src/features/mcp-servers/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock({ timers: 'moved' })
let upstream: Upstream
let app: TestApp
let server: McpStandIn
let me: McpTenant
let id: string

const TOOL = {
  name: 'lights/on',
  description: 'Turns lights on.',
  inputSchema: { type: 'object', properties: { room: { type: 'string' } } },
}

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

const fresh = async (more: object = {}) => {
  me = await mcpTenant(app, upstream)
  server.lists([TOOL, { name: 'loop', inputSchema: { properties: { a: { $ref: '#' } } } }])
  id = (await me.add(server.url, more)).id
}

const definition = (name: string) =>
  me.console<McpDefinition>('GET', `/mcp-servers/${id}/definition?tool=${encodeURIComponent(name)}`)
const refresh = () => me.api<McpServer>('POST', `/mcp-servers/${id}/refresh`)
const trying = (args: unknown = {}, tool = TOOL.name) =>
  me.console<McpCallResponse>('POST', `/mcp-servers/${id}/call`, { tool, arguments: args })

test('the list of servers has the beginning of long descriptions, a server all of it', async () => {
  await fresh()
  const { add, use, api, console, read } = me
  const [long, short] = ['界'.repeat(2_000), '界'.repeat(200)]
  const lists = (description: string) =>
    server.lists([
      { name: 'long', description, inputSchema: { type: 'object' } },
      { name: 'short', description: short, inputSchema: { type: 'object' } },
    ])
  lists(long)
  const { id } = await use(await add(server.url, { name: 'long' }))
  lists(`${long.slice(1)}.`)
  await api('POST', `/mcp-servers/${id}/refresh`)
  const whole = await read(id)
  expect(whole.tools).toMatchObject([
    { description: `${long.slice(1)}.`, approved_description: long },
    { description: short },
  ])
  const beginning = `${long.slice(0, 199)}…`
  for (const surface of [api, console]) {
    const { servers } = (await surface<{ servers: McpServer[] }>('GET', '/mcp-servers')).json()
    const [first, second] = servers[0]?.tools ?? []
    expect(servers[0]).toEqual({ ...whole, tools: [first, second] as never })
    expect(first).toEqual({
      ...(whole.tools[0] as McpServer['tools'][0]),
      description: beginning,
      approved_description: beginning,
    })
    expect(second).toEqual(whole.tools[1])
  }
})

describe('the definition of a tool', () => {
  test('the definition of a tool holds its schema, and none when unusable', async () => {
    await fresh()
    expect((await definition(TOOL.name)).json()).toEqual({
      ...{ name: TOOL.name, description: TOOL.description, schema: TOOL.inputSchema },
      ...{ hash: expect.any(String), approved: null },
    })
    expect((await definition('loop')).json()).toMatchObject({ schema: null, approved: null })
    const unknown = await definition('other')
    expect([unknown.status, unknown.text]).toEqual([404, 'MCP 工具不存在'])
  })

  test('the definition of a changed tool holds the approved one until approved anew', async () => {
    await fresh()
    const approve = () =>
      me.api('PUT', `/mcp-servers/${id}/tools`, { approved: [TOOL.name, 'loop'] })
    await approve()
    const before = { description: TOOL.description, schema: TOOL.inputSchema }
    const schema = { type: 'object', properties: { room: { type: 'string' }, all: {} } }
    server.lists([{ ...TOOL, inputSchema: schema }])
    await refresh()
    expect((await definition(TOOL.name)).json()).toMatchObject({ schema, approved: before })
    // Withdrawn, it is still shown beside what it had been.
    await me.api('PUT', `/mcp-servers/${id}/tools`, { approved: [] })
    expect((await definition(TOOL.name)).json()).toMatchObject({ schema, approved: before })
    await approve()
    expect((await definition(TOOL.name)).json()).toMatchObject({ schema })
    server.lists([TOOL])
    await refresh()
    const approved = { description: TOOL.description, schema }
    expect((await definition(TOOL.name)).json()).toMatchObject({ approved })
  })
})

describe('an approval', () => {
  test('a tool that has changed since it was read is not approved', async () => {
    me = await mcpTenant(app, upstream)
    const { add, api } = me
    const tool = { name: 'echo', description: 'harmless', inputSchema: { type: 'object' } }
    server.lists([tool])
    const { tools, ...made } = await add(server.url)
    id = made.id
    const read = tools[0]?.hash ?? ''
    server.lists([{ ...tool, description: 'now it reads your mail' }])
    await refresh()
    const approve = async (hash: string) => {
      const body = { approved: ['echo'], hashes: { echo: hash } }
      return (await api<McpServer>('PUT', `/mcp-servers/${id}/tools`, body)).json().tools[0]
    }
    const refused = await approve(read)
    expect(refused).toMatchObject({ state: 'new' })
    expect(await approve(refused?.hash ?? '')).toMatchObject({ state: 'approved' })
    // What was approved stays approved in the form that it had.
    server.lists([tool])
    await refresh()
    expect(await approve(refused?.hash ?? '')).toMatchObject({
      state: 'changed',
      approved_description: 'now it reads your mail',
    })
    const wrong = { approved: ['echo'], hashes: { echo: 'x' } }
    expect((await api('PUT', `/mcp-servers/${id}/tools`, wrong)).status).toBe(400)
  })
})

describe('a tool that a person tries', () => {
  test('a tool is tried before its approval, and its answer is shown with its time', async () => {
    await fresh({ header_name: 'X-Key', header_value: 'secret-value' })
    server.answers((_, args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }))
    expect((await trying({ room: '客厅' })).json()).toEqual({
      ...{ ok: true, ms: 0, text: '{"room":"客厅"}', error_class: null },
    })
    expect(server.received.at(-1)?.headers.get('x-key')).toBe('secret-value')
    server.answers(() => ({ content: [{ type: 'text', text: 'no such room' }], isError: true }))
    expect((await trying()).json()).toMatchObject({ ok: false, text: 'no such room' })
    server.answers(() => ({ content: [{ type: 'text', text: 'x'.repeat(20_000) }] }))
    expect((await trying()).json().text).toEndWith('xx\n[cut here]')
    const audit = await me.console<{ entries: { action: string; target: string }[] }>(
      'GET',
      '/audit',
    )
    const tried = audit.json().entries.filter(({ action }) => action === 'server.call')
    expect(tried.map(({ target }) => target)).toEqual([id, id, id])
    // Looking and trying approve nothing.
    expect((await me.read(id)).tools[0]).toMatchObject({ state: 'new' })
  })

  test('a failing MCP server is reported by its error class, without its text', async () => {
    await fresh()
    const classOf = async () => (await trying()).json()
    server.fails(() => new Response('SECRET', { status: 401 }))
    expect(await classOf()).toMatchObject({ ok: false, text: '', error_class: 'refused' })
    server.fails(() => Response.redirect('http://127.0.0.1:1/'))
    expect(await classOf()).toMatchObject({ ok: false, text: '', error_class: 'malformed' })
    const large = { jsonrpc: '2.0', id: 1, result: { content: 'x'.repeat(5_000_000) } }
    server.fails((_, rpc) => Response.json({ ...large, id: rpc?.id }))
    expect(await classOf()).toMatchObject({ ok: false, text: '', error_class: 'too_large' })
    const asked = server.asked('tools/call')
    server.fails((_, rpc) => (rpc?.method === 'tools/call' ? new Promise(() => {}) : null))
    const late = trying()
    await asked
    await clock.advance(60_000)
    expect((await late).json()).toEqual({
      ...{ ok: false, ms: 60_000, text: '', error_class: 'timeout' },
    })
  })

  test('a malformed call is refused before the MCP server is asked', async () => {
    await fresh()
    const asked = server.received.length
    for (const args of [null, [], 'x', 1]) expect((await trying(args)).status).toBe(400)
    expect((await trying({}, 'other')).status).toBe(404)
    const unusable = await trying({}, 'loop')
    expect([unusable.status, unusable.text]).toEqual([400, '该 MCP 工具不可用'])
    expect(server.received.length).toBe(asked)
    const stranger = await mcpTenant(app, upstream)
    const body = { tool: TOOL.name, arguments: {} }
    expect((await stranger.console('POST', `/mcp-servers/${id}/call`, body)).status).toBe(404)
  })
})
