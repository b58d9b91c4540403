import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { expectRefusal, kbClient } from '../support/kb.ts'
import { signIn } from '../support/login.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let tenants = 0

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    env: { MB_EMBED_BASE_URL: upstream.baseUrl, MB_EMBED_MODEL: 'fake-embed' },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** A key of a tenant that nothing was stored for yet. */
const freshKey = () => app.key(`t${++tenants}@example.com`)
const { call, add, search } = kbClient(() => app.url)

describe('credentials', () => {
  test('knowledge base routes answer 401 without a key, before they read a body', async () => {
    for (const [method, path] of [
      ['GET', '/docs'],
      ['POST', '/docs'],
      ['DELETE', '/docs/x'],
      ['GET', '/docs/x/chunks'],
      ['POST', '/search'],
    ] as const) {
      const init = method === 'POST' ? { method, body: '{' } : { method }
      expect((await fetch(`${app.url}/v1/kb${path}`, init)).status).toBe(401)
    }
  })

  test('an app key works on the tenant’s documents; a device key may only search', async () => {
    const general = await freshKey()
    const email = `t${tenants}@example.com`
    const appKey = await app.key(email, { appId: 'app-1' })
    const device = await app.key(email, { deviceId: 'device-1' })
    const { body } = await add(appKey, '共用', '租户级知识库')
    expect((await call(general, 'GET', '/docs')).body.docs).toHaveLength(1)
    expect((await search(device, '知识库')).body.results).toHaveLength(1)
    expectRefusal(await call(device, 'GET', '/docs'), 403)
    expectRefusal(await call(device, 'POST', '/docs', '{'), 403)
    expectRefusal(await call(device, 'GET', `/docs/${body.id}/chunks`), 403)
    expectRefusal(await call(device, 'DELETE', `/docs/${body.id}`), 403)
    expectRefusal(await call(device, 'DELETE', '/docs/'), 403)
    expect((await call(appKey, 'DELETE', `/docs/${body.id}`)).status).toBe(200)
  })

  test('two tenants with the same documents never see each other’s documents', async () => {
    const [a, b] = [await freshKey(), await freshKey()]
    const text = '保修期为两年，凭发票办理。'
    const [inA, inB] = [(await add(a, '保修', text)).body, (await add(b, '保修', text)).body]
    for (const [key, own] of [
      [a, inA],
      [b, inB],
    ] as const) {
      const { results } = (await search(key, '保修期')).body
      expect(results.map((r: { doc_id: string }) => r.doc_id)).toEqual([own.id])
    }
    expectRefusal(await call(a, 'DELETE', `/docs/${inB.id}`), 404)
    expectRefusal(await call(a, 'GET', `/docs/${inB.id}/chunks`), 404)
    await call(a, 'DELETE', `/docs/${inA.id}`)
    expect((await search(a, '保修期')).body).toEqual({ results: [] })
    expect((await search(b, '保修期')).body.results).toHaveLength(1)
  })
})

describe('the console side', () => {
  test('console routes answer as machine routes do, for the tenant of the session', async () => {
    const email = 'console@example.com'
    const { headers } = await signIn(app, email)
    const key = await app.key(email)
    const console = async (method: string, path: string, body?: object) => {
      const init = body ? { method, headers, body: JSON.stringify(body) } : { method, headers }
      const response = await fetch(`${app.url}/console/kb${path}`, init)
      return { status: response.status, text: await response.text() }
    }
    const created = await console('POST', '/docs', { title: '控制台', text: '从控制台上传。' })
    expect(created.status).toBe(201)
    const { id } = JSON.parse(created.text)
    for (const [method, path, body] of [
      ['GET', '/docs', undefined],
      ['GET', `/docs/${id}/chunks`, undefined],
      ['POST', '/search', { q: '上传' }],
      ['POST', '/search', { q: ' ' }],
      ['POST', '/docs', { title: '', text: 'x' }],
      ['POST', '/docs', { title: 'x', text: 'x'.repeat(102_401) }],
      ['DELETE', '/docs/', undefined],
      ['DELETE', '/docs/unknown', undefined],
    ] as const) {
      const machine = await call(key, method, path, body)
      expect(await console(method, path, body)).toEqual({
        status: machine.status,
        text: machine.text,
      })
    }
    expect(await console('DELETE', `/docs/${id}`)).toEqual({
      status: 200,
      text: JSON.stringify({ id, deleted: true }),
    })
  })

  test('the console side takes no key, and the machine side no session', async () => {
    const { headers } = await signIn(app, 'console@example.com')
    const key = await freshKey()
    const get = (path: string, init: RequestInit) => fetch(`${app.url}${path}`, init)
    expect((await get('/console/kb/docs', { headers: key.headers })).status).toBe(401)
    expect((await get('/v1/kb/docs', { headers })).status).toBe(401)
  })
})

test('half of a character in the id of a collection is an unknown id', async () => {
  const key = await freshKey()
  const { body } = await add(key, 'a', 'A text.')
  expect((await call(key, 'POST', '/collections', { name: 'c' })).status).toBe(201)
  const half = { collection_id: '\ud800' }
  for (const id of [body.id, 'unknown']) {
    expectRefusal(await call(key, 'PUT', `/docs/${id}`, half), 404)
    expectRefusal(await call(key, 'PUT', `/sources/${id}`, half), 404)
  }
  expectRefusal(await call(key, 'POST', '/docs', { title: 'b', text: 'b', ...half }), 404)
  expectRefusal(await call(key, 'POST', '/search', { q: 'a', collections: ['\ud800'] }), 404)
})
