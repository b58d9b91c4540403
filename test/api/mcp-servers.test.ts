import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import type { ConfigExport } from '../../src/features/transfer/model.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import { refusedUrl, startUpstream, type Upstream } from '../support/upstream.ts'

const SECRET = 'Bearer SECRET-header-9876'
let upstream: Upstream
let app: TestApp
let server: McpStandIn
let me: McpTenant

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterEach(() => server.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})
const fresh = async () => {
  me = await mcpTenant(app, upstream)
  return me
}

const withHeader = { header_name: 'Authorization', header_value: SECRET }

describe('an MCP server', () => {
  test('a server is asked for its tools at once and is shown without its secret', async () => {
    const { add, read, api } = await fresh()
    const made = await add(server.url, withHeader)
    expect(made).toEqual({
      id: expect.any(String),
      name: 'home',
      url: server.url,
      header_name: 'Authorization',
      header_tail: '9876',
      auth: 'header',
      ...{ client_id: null, client_secret_tail: null, scopes: null },
      ...{ signed_in: false, signed_in_by: null, signed_in_at: null, scopes_needed: null },
      enabled: true,
      state: 'ready',
      error_class: null,
      protocol: '2026-07-28',
      latency_ms: expect.any(Number),
      checked_at: expect.any(String),
      tools: [
        {
          name: 'echo',
          call_name: 'home__echo',
          title: null,
          description: 'Says the text again.',
          read_only: false,
          destructive: true,
          ask: false,
          schema_chars: 57,
          state: 'new',
          reason: null,
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
      created_at: expect.any(String),
    })
    expect(await read(made.id)).toEqual(made)
    const listed = await api<{ servers: McpServer[] }>('GET', '/mcp-servers')
    expect(listed.json()).toEqual({ servers: [made] })
    expect(server.received.map(({ headers }) => headers.get('authorization'))).toEqual([
      SECRET,
      SECRET,
    ])
  })

  test('a server that does not answer is stored as failed', async () => {
    const { add, read } = await fresh()
    const made = await add(await refusedUrl())
    expect(made).toMatchObject({ state: 'failed', error_class: 'unreachable', tools: [] })
    expect(made.checked_at).not.toBeNull()
    expect(await read(made.id)).toEqual(made)
  })

  test.each([
    [{ name: 'Home' }, 'name'],
    [{ name: 'a__b' }, 'name'],
    [{ name: 'x'.repeat(21) }, 'name'],
    [{ name: '' }, 'name'],
    [{ url: 'ftp://a.example.com' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ url: 'http://10.0.0.1/mcp' }, 'url'],
    [{ url: 'http://localhost/mcp' }, 'url'],
    [{ url: 'https://user:pass@a.example.com/' }, 'url'],
    [{ header_name: 'Cookie', header_value: 'a' }, 'header_name'],
    [{ header_name: 'Content-Type', header_value: 'a' }, 'header_name'],
    [{ header_name: 'MCP-Session-Id', header_value: 'a' }, 'header_name'],
    [{ header_name: 'host', header_value: 'a' }, 'header_name'],
    [{ header_name: 'a b', header_value: 'a' }, 'header_name'],
    [{ header_name: 'x'.repeat(65), header_value: 'a' }, 'header_name'],
    [{ header_name: 'X-Key', header_value: 'a\r\nHost: b' }, 'header_value'],
    [{ header_name: 'X-Key', header_value: 'x'.repeat(2_001) }, 'header_value'],
    [{ header_value: 'a' }, 'header_name'],
    [{ enabled: 'yes' }, 'enabled'],
  ])('the server %j is refused', async (more, field) => {
    const { api } = await fresh()
    const body = { name: 'home', url: 'https://tools.example.com/mcp', ...more }
    const answer = await api('POST', '/mcp-servers', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(field)
    expect(answer.text).not.toContain('SECRET')
  })

  test('two servers of a tenant never have one name, and ten are the most', async () => {
    const { api, add } = await fresh()
    await add(server.url, { name: 'one' })
    const url = server.url
    const again = await api('POST', '/mcp-servers', { name: 'one', url })
    expect([again.status, again.text]).toEqual([400, '已有同名的 MCP 服务器'])
    for (let i = 2; i <= 10; i++) await add(url, { name: `s${i}` })
    const more = await api('POST', '/mcp-servers', { name: 's11', url })
    expect([more.status, more.headers.get('x-error-code')]).toEqual([403, 'quota_mcp_servers'])
    const { servers } = (await api<{ servers: McpServer[] }>('GET', '/mcp-servers')).json()
    expect(servers.map(({ name }) => name)).toEqual([
      ...['s10', 's9', 's8', 's7', 's6', 's5', 's4', 's3', 's2'],
      'one',
    ])
  })

  test('a deleted MCP server is 404', async () => {
    const { api, add } = await fresh()
    const { id } = await add(server.url)
    expect((await api('DELETE', `/mcp-servers/${id}`)).json()).toEqual({ id, deleted: true })
    expect((await api('GET', `/mcp-servers/${id}`)).status).toBe(404)
    expect((await api('DELETE', `/mcp-servers/${id}`)).status).toBe(404)
  })

  test.skipIf(ON_POSTGRES)(
    'every endpoint of MCP servers answers 503 without an encryption key',
    async () => {
      await using plain = await startApp({ env: { MB_ENCRYPTION_KEY: 'off' } })
      const { api } = await mcpTenant(plain, upstream)
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', '/x'],
        ['PUT', '/x'],
        ['DELETE', '/x'],
        ['POST', '/x/refresh'],
        ['PUT', '/x/tools'],
      ] as const) {
        expect(
          (await api(method, `/mcp-servers${path}`, method === 'GET' ? undefined : {})).status,
        ).toBe(503)
      }
    },
  )
})

describe('changing a server', () => {
  const put = (id: string, body: object) => me.api<McpServer>('PUT', `/mcp-servers/${id}`, body)

  test('renaming an MCP server keeps approvals', async () => {
    const { add, use } = await fresh()
    const { id } = await use(await add(server.url, withHeader))
    server.reset()
    const renamed = (
      await put(id, { name: 'flat', url: server.url, header_name: 'Authorization' })
    ).json()
    expect(renamed).toMatchObject({
      name: 'flat',
      header_tail: '9876',
      tools: [{ call_name: 'flat__echo', state: 'approved' }],
    })
    expect(server.received).toEqual([])
  })

  test('a secret does not travel to another address', async () => {
    const { add, use } = await fresh()
    const { id } = await use(await add(server.url, withHeader))
    using other = startMcpServer()
    const moved = (
      await put(id, { name: 'home', url: other.url, header_name: 'Authorization' })
    ).json()
    expect(moved).toMatchObject({ header_tail: null, tools: [{ state: 'new' }] })
    expect(other.received.length).toBeGreaterThan(0)
    expect(other.received.every(({ headers }) => headers.get('authorization') === null)).toBe(true)
  })

  test('a secret does not travel under another name', async () => {
    const { add } = await fresh()
    const { id } = await add(server.url, withHeader)
    server.reset()
    const other = (await put(id, { name: 'home', url: server.url, header_name: 'X-Key' })).json()
    expect(other).toMatchObject({ header_name: 'X-Key', header_tail: null })
    expect(server.received.every(({ headers }) => headers.get('x-key') === null)).toBe(true)
  })

  test('a new header value lists the MCP server again and withdraws approvals', async () => {
    const { add, use } = await fresh()
    const { id } = await use(await add(server.url, withHeader))
    const body = { name: 'home', url: server.url, ...withHeader, header_value: 'another-value' }
    expect((await put(id, body)).json()).toMatchObject({
      header_tail: 'alue',
      state: 'ready',
      tools: [{ state: 'new' }],
    })
  })

  test('a server cannot take the name of another', async () => {
    const { add } = await fresh()
    await add(server.url, { name: 'one' })
    const { id } = await add(server.url, { name: 'two' })
    const answer = await put(id, { name: 'one', url: server.url })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'mcp_name_taken'])
  })
})

describe('listing anew', () => {
  const refresh = (id: string) => me.api<McpServer>('POST', `/mcp-servers/${id}/refresh`)

  test('a changed definition waits for approval, and its old form needs none', async () => {
    const { add, use, api } = await fresh()
    const tool = { name: 'echo', description: 'harmless', inputSchema: { type: 'object' } }
    server.lists([tool, { ...tool, name: 'other' }])
    const { id } = await use(await add(server.url))
    server.lists([
      { ...tool, description: 'now it reads your mail' },
      { ...tool, name: 'third' },
    ])
    expect((await refresh(id)).json().tools).toMatchObject([
      { name: 'echo', state: 'changed', description: 'now it reads your mail' },
      { name: 'third', state: 'new' },
    ])
    server.lists([tool])
    expect((await refresh(id)).json().tools).toMatchObject([{ name: 'echo', state: 'approved' }])
    server.lists([{ ...tool, inputSchema: { type: 'object', properties: { more: {} } } }])
    expect((await refresh(id)).json().tools).toMatchObject([{ state: 'changed' }])
    const approved = ['echo', 'unknown']
    const answer = await api<McpServer>('PUT', `/mcp-servers/${id}/tools`, { approved })
    expect(answer.json().tools).toMatchObject([{ name: 'echo', state: 'approved' }])
    const none = await api<McpServer>('PUT', `/mcp-servers/${id}/tools`, { approved: [] })
    expect(none.json().tools).toMatchObject([{ name: 'echo', state: 'new' }])
  })

  test('a refresh that fails says why, and keeps what was listed', async () => {
    const { add, read } = await fresh()
    const { id } = await add(server.url)
    server.fails(() => new Response('SECRET', { status: 401 }))
    const answer = await refresh(id)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'mcp_refused'])
    expect(await read(id)).toMatchObject({
      state: 'failed',
      error_class: 'refused',
      tools: [{ name: 'echo' }],
    })
  })
})

test('the value of a header is in no answer, log or export', async () => {
  const { add, api } = await fresh()
  const { id } = await add(server.url, withHeader)
  server.fails(() => new Response(SECRET, { status: 500 }))
  const texts = [
    (await api('GET', '/mcp-servers')).text,
    (await api('POST', `/mcp-servers/${id}/refresh`)).text,
    (await api('PUT', `/mcp-servers/${id}`, { name: 'home', url: 'x', ...withHeader })).text,
    (await api('GET', '/export')).text,
    app.log(),
  ]
  for (const text of texts) expect(text).not.toContain('SECRET')
  const rows = await app.db.all<{ sealed: Uint8Array }>({
    sql: 'SELECT header_sealed AS sealed FROM mcp_server WHERE id = ?',
    args: [id],
  })
  expect(rows).toHaveLength(1)
  expect(Buffer.from(rows[0]?.sealed ?? []).toString('latin1')).not.toContain('SECRET')
})

test('servers travel without their secrets, and their tools wait to be approved', async () => {
  const from = await fresh()
  await from.use(await from.add(server.url, withHeader))
  const config = (await from.api<ConfigExport>('GET', '/export')).json()
  const told = { auth: 'header' as const, client_id: null, scopes: null, enabled: true }
  const head = { name: 'home', url: server.url, header_name: 'Authorization' }
  expect(config.mcp_servers).toEqual([{ ...head, ...told }])
  expect(config.settings.mcp_tools).toEqual(['home__*'])
  const to = await fresh()
  const answer = await to.api<{ imported: object }>('POST', '/import', { config })
  expect(answer.json().imported).toMatchObject({ mcp_servers: 1, settings: true })
  const { servers } = (await to.api<{ servers: McpServer[] }>('GET', '/mcp-servers')).json()
  expect(servers).toMatchObject([
    { name: 'home', header_name: 'Authorization', header_tail: null, state: 'never', tools: [] },
  ])
})
