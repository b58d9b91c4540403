import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { autoClient } from '../support/mcp-clients.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
  key = await app.key()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const VERSION = '2026-07-28'
const envelope = (version = VERSION) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
})

interface Raw {
  readonly method?: string
  readonly params?: object
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** A POST of the modern revision, with what is given in place of what belongs there. */
function post({ method = 'tools/list', params = {}, headers = {}, body, signal }: Raw) {
  const message = { jsonrpc: '2.0', id: 7, method, params: { _meta: envelope(), ...params } }
  return fetch(`${app.url}/v1/mcp`, {
    method: 'POST',
    headers: {
      ...key.headers,
      'content-type': 'application/json',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...headers,
    },
    body: body ?? JSON.stringify(message),
    ...(signal ? { signal } : {}),
  })
}

describe('a raw request', () => {
  const refused: readonly (readonly [string, Raw, number, object])[] = [
    ['without Mcp-Method', { headers: { 'mcp-method': '' } }, 400, { code: -32020 }],
    ['whose header and body differ', { headers: { 'mcp-method': 'x' } }, 400, { code: -32020 }],
    ['without _meta', { params: { _meta: undefined } }, 400, { code: -32602 }],
    [
      'of an unknown revision',
      {
        params: { _meta: envelope('1999-01-01') },
        headers: { 'mcp-protocol-version': '1999-01-01' },
      },
      400,
      { code: -32022, data: { supported: [VERSION], requested: '1999-01-01' } },
    ],
    ['with an unknown method', { method: 'tools/invent' }, 404, { code: -32601 }],
    ['that is no JSON', { body: '{' }, 400, { code: -32700 }],
    ['that is empty', { body: '' }, 400, { code: -32700 }],
    ['that is an array', { body: '[]' }, 400, { code: -32600 }],
  ]
  test.each(refused)(
    'a request %s is refused in the form of JSON-RPC',
    async (_, raw, status, error) => {
      const response = await post(raw)
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('x-error-code')).toBe(
        status === 404 ? 'not_found' : 'invalid_request',
      )
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error })
    },
  )

  test('arguments that are no object are refused by the tool, in Chinese', async () => {
    const call = async (args: unknown) => {
      const response = await post({
        method: 'tools/call',
        params: { name: 'list_documents', arguments: args, _meta: envelope() },
        headers: { 'mcp-name': 'list_documents' },
      })
      expect(response.status).toBe(200)
      const { result } = (await response.json()) as { result: { isError?: boolean } }
      return result
    }
    for (const args of ['x', [], 1, false]) {
      expect(await call(args)).toMatchObject({
        isError: true,
        content: [{ text: '字段 arguments 类型错误，应为对象' }],
      })
    }
    // Some clients write null for a tool that takes none.
    for (const args of [null, undefined, {}]) {
      expect(await call(args)).toMatchObject({ structuredContent: { docs: [] } })
    }
  })

  test('a list is JSON that only this key may keep', async () => {
    const response = await post({})
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({
      id: 7,
      result: { resultType: 'complete', cacheScope: 'private', ttlMs: expect.any(Number) },
    })
  })

  test('a request that accepts one type of answer alone is served', async () => {
    for (const accept of ['application/json', 'text/event-stream', '*/*']) {
      expect((await post({ headers: { accept } })).status).toBe(200)
      const legacy = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      const headers = { accept, 'mcp-protocol-version': '2025-06-18' }
      expect((await post({ headers, body: legacy })).status).toBe(200)
    }
  })

  test('a page of another origin may call with a key', async () => {
    const response = await post({ headers: { origin: 'https://other.example.com' } })
    expect(response.status).toBe(200)
  })

  test.each(['GET', 'DELETE', 'PUT'])('%s is 405', async (method) => {
    const response = await fetch(`${app.url}/v1/mcp`, { method, headers: key.headers })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a request without a key is 401 with a challenge, whatever its body', async () => {
    const response = await fetch(`${app.url}/v1/mcp`, { method: 'POST', body: '{' })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  test('a body over 1 MB is 413', async () => {
    const response = await post({ body: `"${'x'.repeat(1024 * 1024)}"` })
    expect(response.status).toBe(413)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  test('each request counts for the rate limit of its key', async () => {
    const { headers } = await app.key('a@example.com', { rateLimit: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await post({ headers })).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

const ask = (args: object, raw: Raw = {}) =>
  post({
    ...raw,
    method: 'tools/call',
    params: { name: 'ask_agent', arguments: args, ...raw.params },
    headers: { 'mcp-name': 'ask_agent', ...raw.headers },
  })

describe('the agent', () => {
  test('an answer of the agent is a stream that begins before the model has answered', async () => {
    const model = Promise.withResolvers<void>()
    upstream.reply({ text: '好', holdHeaders: model.promise })
    const response = await ask({ text: 'a', session_id: 'x' })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toStartWith(':')
    model.resolve()
    let text = ''
    for (let part = await reader?.read(); part?.value; part = await reader?.read())
      text += part.value
    expect(text).toContain('"reply":"好"')
  })

  test('the agent remembers what was said in a session, and nothing without one', async () => {
    await using client = await autoClient({ url: app.url, headers: key.headers })
    const sent = async () => JSON.stringify((await upstream.nextRequest()).body)
    await client.call('ask_agent', { text: '我叫小明' })
    await sent()
    await client.call('ask_agent', { text: '我叫小红', session_id: 'named' })
    expect(await sent()).not.toContain('小明')
    await client.call('ask_agent', { text: '我叫什么', session_id: 'named' })
    expect(await sent()).toContain('小红')
    const sessions = await fetch(`${app.url}/v1/sessions`, { headers: key.headers })
    expect(await sessions.text()).not.toContain('"anon"')
  })

  test('a client that leaves ends the call of the model', async () => {
    for (const revision of ['modern', 'legacy']) {
      const left = new AbortController()
      upstream.reply({ text: '好', holdHeaders: new Promise(() => {}) })
      const params = { name: 'ask_agent', arguments: { text: 'a', session_id: 'y' } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const response =
        revision === 'modern'
          ? await ask({ text: 'a', session_id: 'y' }, { signal: left.signal })
          : await post({
              body,
              headers: { 'mcp-protocol-version': '2025-06-18' },
              signal: left.signal,
            })
      await upstream.nextRequest()
      left.abort()
      await upstream.aborted()
      await response.text().catch(() => {})
    }
  })

  test('a key without tokens left searches, and asks the agent no more', async () => {
    const { headers } = await app.key('spent@example.com', { dailyTokens: 1 })
    await using client = await autoClient({ url: app.url, headers })
    expect((await client.call('ask_agent', { text: 'a' })).isError).toBeUndefined()
    const { isError, content } = await client.call('ask_agent', { text: 'a' })
    expect([isError, content[0]?.text]).toEqual([true, '今日额度已用完'])
    expect((await client.call('search', { query: 'a' })).isError).toBeUndefined()
  })

  test('a failure of the model is an error of the tool in Chinese', async () => {
    upstream.fault(401)
    await using client = await autoClient({ url: app.url, headers: key.headers })
    const { isError, content } = await client.call('ask_agent', { text: 'a', session_id: 'z' })
    expect(isError).toBe(true)
    expect(content[0]?.text).toBe('模型服务拒绝了请求，请检查模型的地址、密钥和模型名')
  })

  test('the request log has the label, the session and the length, and no content', async () => {
    const key = await app.key('log@example.com')
    await using client = await autoClient({ url: app.url, headers: key.headers })
    await client.call('ask_agent', { text: '天机不可泄露', session_id: 'logged' })
    await client.call('search', { query: '天机' })
    await app.flush()
    const rows = await app.db.all<Record<string, unknown>>({
      sql: 'SELECT * FROM request_log WHERE tenant_id = ? ORDER BY id',
      args: [key.tenantId],
    })
    expect(rows.every(({ endpoint }) => endpoint === '/v1/mcp')).toBe(true)
    expect(rows).toContainEqual(
      expect.objectContaining({ session_id: 'logged', text_chars: 6, channel: 'platform' }),
    )
    expect(rows).toContainEqual(expect.objectContaining({ session_id: null, text_chars: 2 }))
    expect(JSON.stringify(rows) + app.log()).not.toContain('天机')
  })
})
