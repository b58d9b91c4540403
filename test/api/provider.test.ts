import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { credentials, SURFACES, type Surface } from '../support/api.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { storedIn } from '../support/stored.ts'
import { tempFolder } from '../support/temp.ts'
import { refusedUrl, startUpstream, type Upstream } from '../support/upstream.ts'

const KEY = 'sk-byo-0123456789abcdef-WXYZ'
const NONE = { configured: false, base_url: null, key_tail: null, failover: true }

const folder = tempFolder()
let upstream: Upstream
let app: TestApp
let headers: Record<Surface, Record<string, string>>

beforeAll(async () => {
  upstream = await startUpstream()
  const env = { MB_DATA_DIR: folder.path, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  app = await startApp({ env })
  headers = await credentials(app)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  folder[Symbol.dispose]()
})

async function call(surface: Surface, method: string, path = '', body?: unknown, server = app) {
  const response = await fetch(`${server.url}${surface}/provider${path}`, {
    method,
    headers: headers[surface],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json')
  return { status: response.status, text, body: json ? JSON.parse(text) : null }
}

const valid = (fields: object = {}) => ({ base_url: upstream.baseUrl, api_key: KEY, ...fields })

for (const surface of SURFACES) {
  describe(`${surface}/provider`, () => {
    test('the provider is empty, and its test refused, before it is configured', async () => {
      await call(surface, 'DELETE')
      expect(await call(surface, 'GET')).toMatchObject({ status: 200, body: NONE })
      const tested = await call(surface, 'POST', '/test')
      expect([tested.status, tested.text]).toEqual([400, '尚未配置自带模型通道'])
    })

    test.each([
      ['abcd', ''],
      ['abcde', 'bcde'],
      ['abcdefghijk', 'hijk'],
    ])('a key %s of the provider has the tail %j, never the whole key', async (api_key, tail) => {
      const { body } = await call(surface, 'PUT', '', valid({ api_key }))
      expect(body).toMatchObject({ configured: true, key_tail: tail })
    })

    test('the provider is saved with only the tail of its key shown, and cleared', async () => {
      const body = valid({ api_key: `  ${KEY} `, tenant_id: 'another', key_tail: 'no' })
      const config = {
        configured: true,
        base_url: upstream.baseUrl,
        key_tail: 'WXYZ',
        failover: true,
      }
      const saved = await call(surface, 'PUT', '', body)
      expect([saved.status, saved.body]).toEqual([200, config])
      for (const other of SURFACES) expect((await call(other, 'GET')).body).toEqual(config)
      const off = await call(surface, 'PUT', '', valid({ failover: false }))
      expect(off.body).toEqual({ ...config, failover: false })
      const cleared = await call(surface, 'DELETE')
      expect([cleared.status, cleared.body]).toEqual([200, NONE])
      expect((await call(surface, 'GET')).body).toEqual(NONE)
    })

    test('the provider test asks the saved channel once for one token', async () => {
      await call(surface, 'PUT', '', valid())
      const { status, body } = await call(surface, 'POST', '/test')
      expect(status).toBe(200)
      expect(body).toEqual({ ok: true, latency_ms: expect.any(Number) })
      expect(Number.isInteger(body.latency_ms)).toBeTrue()
      const asked = upstream.requests.filter(({ path }) => path === '/chat/completions')
      expect(asked.map(({ body }) => body.max_tokens)).toEqual([1])
      expect(asked[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
      expect(asked[0]?.headers.host).toBe(`127.0.0.1:${upstream.port}`)
    })

    for (const fault of [401, 429, 503, 'reset', 'redirect'] as const) {
      test(`the provider test reports ${fault} in a short phrase, without a retry`, async () => {
        await call(surface, 'PUT', '', valid())
        upstream.chat.alwaysFault(fault)
        const { status, text, body } = await call(surface, 'POST', '/test')
        expect(status).toBe(200)
        const phrase = { reset: 'connection failed', redirect: 'HTTP 302' }
        const error = typeof fault === 'number' ? `HTTP ${fault}` : phrase[fault]
        expect(body).toEqual({ ok: false, latency_ms: expect.any(Number), error })
        expect(text).not.toMatch(/SECRET|sk-byo|127\.0\.0\.1/)
        const asked = upstream.requests.filter(({ path }) => path === '/chat/completions')
        expect(asked).toHaveLength(1)
      })
    }

    test('the provider test reports a refused connection', async () => {
      await call(surface, 'PUT', '', valid({ base_url: await refusedUrl() }))
      const { body } = await call(surface, 'POST', '/test')
      expect(body).toMatchObject({ ok: false, error: 'connection failed' })
    })

    const bad: Record<string, unknown> = {
      'no JSON': '{',
      'nothing at all': '',
      'no base_url': { api_key: KEY },
      'no api_key': { base_url: 'https://example.com/v1' },
      'blank api_key': { base_url: 'https://example.com/v1', api_key: '  ' },
      'api_key of 501': { base_url: 'https://example.com/v1', api_key: 'k'.repeat(501) },
      'base_url of 301': { base_url: `https://example.com/${'a'.repeat(281)}`, api_key: KEY },
      'base_url of another type': { base_url: 7, api_key: KEY },
      'failover of another type': { base_url: 'https://example.com', api_key: KEY, failover: 1 },
    }
    for (const [name, body] of Object.entries(bad)) {
      test(`saving a provider is 400: ${name}`, async () => {
        const { status, text } = await call(surface, 'PUT', '', body)
        expect(status).toBe(400)
        expect(text).toMatch(/\p{Script=Han}/u)
      })
    }

    test('an address of 300 and a key of 500 characters are saved', async () => {
      const base_url = `https://example.com/${'a'.repeat(280)}`
      const { status, body } = await call(surface, 'PUT', '', {
        base_url,
        api_key: 'k'.repeat(500),
      })
      expect([status, body.base_url]).toEqual([200, base_url])
    })

    for (const base_url of [
      'http://localhost:11434/v1',
      'http://127.1/v1',
      'https://10.1.2.3/v1',
      'http://192.168.1.1/v1',
      'http://172.16.0.1',
      'http://169.254.169.254/latest',
      'http://0.0.0.0/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::1]:80/v1',
      'http://[::ffff:10.0.0.1]/',
      'http://[fe80::1]/',
      'http://100.64.0.1/',
      'http://printer.local/v1',
      'http://intranet/v1',
      'https://user:pass@example.com/v1',
      'ftp://example.com/v1',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'example.com/v1',
      'http://',
    ]) {
      test(`an internal or malformed provider address is refused: ${base_url}`, async () => {
        const before = (await call(surface, 'GET')).body
        const { status } = await call(surface, 'PUT', '', valid({ base_url }))
        // 127.0.0.1 in any spelling is what this server's operator allows.
        const allowed = ['http://127.1/v1', 'http://2130706433/', 'http://0x7f.1/']
        expect(status).toBe(allowed.includes(base_url) ? 200 : 400)
        if (status === 400) expect((await call(surface, 'GET')).body).toEqual(before)
      })
    }

    test('the provider is closed to app keys, device keys and missing keys', async () => {
      const scopes = [{ appId: 'app-1' }, { deviceId: 'device-1' }]
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/test'],
      ] as const) {
        const url = `${app.url}${surface}/provider${path}`
        expect((await fetch(url, { method })).status).toBe(401)
        for (const scope of scopes) {
          const key = await app.key('a@example.com', scope)
          const { status } = await fetch(url, { method, headers: key.headers })
          expect(status).toBe(surface === '/v1' ? 403 : 401)
        }
      }
    })
  })
}

describe('the key', () => {
  test('the provider key appears in no file, log line or other tenant', async () => {
    await call('/v1', 'PUT', '', valid())
    await call('/v1', 'POST', '/test')
    upstream.chat.alwaysFault(401)
    await call('/v1', 'POST', '/test')
    await app.flush()
    const stored = await storedIn(app, folder.path)
    expect(stored).toContain(upstream.baseUrl)
    expect(stored).not.toContain('sk-byo')
    expect(app.log()).not.toContain('sk-byo')
    const { headers } = await app.key('other@example.com')
    const theirs = await fetch(`${app.url}/v1/provider`, { headers })
    expect(await theirs.json()).toEqual(NONE)
  })

  test('a provider key encrypted for one tenant does not decrypt for another', async () => {
    await call('/v1', 'PUT', '', valid())
    const { tenantId, headers } = await app.key('thief@example.com')
    await app.db.run({
      sql: `INSERT INTO provider SELECT ?, base_url, key_sealed, failover, revision FROM provider
        LIMIT 1`,
      args: [tenantId],
    })
    const theirs = await fetch(`${app.url}/v1/provider`, { headers })
    expect(await theirs.json()).toMatchObject({ configured: true, key_tail: null })
  })

  test('a provider key cannot be read after the encryption key was changed', async () => {
    await call('/v1', 'PUT', '', valid())
    const env = {
      MB_DATA_DIR: folder.path,
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      MB_ENCRYPTION_KEY: 'ab'.repeat(32),
    }
    await using later = await startApp({ env })
    expect((await call('/v1', 'GET', '', undefined, later)).body).toEqual({
      configured: true,
      base_url: upstream.baseUrl,
      key_tail: null,
      failover: true,
    })
    const { body } = await call('/v1', 'POST', '/test', undefined, later)
    expect(body).toEqual({ ok: false, latency_ms: 0, error: 'key cannot be decrypted' })
    expect(upstream.requests).toEqual([])
  })

  // Servers that share a database need the key of encryption.
  test.skipIf(ON_POSTGRES)('every provider endpoint is 503 without encryption', async () => {
    await using plain = await startApp({
      env: { MB_DATA_DIR: folder.path, MB_ENCRYPTION_KEY: 'off' },
    })
    for (const surface of SURFACES) {
      const statuses = [
        await call(surface, 'GET', '', undefined, plain),
        await call(surface, 'PUT', '', { base_url: 'https://example.com', api_key: KEY }, plain),
        await call(surface, 'PUT', '', {}, plain),
        await call(surface, 'DELETE', '', undefined, plain),
        await call(surface, 'POST', '/test', undefined, plain),
      ].map(({ status }) => status)
      expect(statuses).toEqual([503, 503, 503, 503, 503])
    }
  })
})
