import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

interface Issued {
  id: string
  prefix: string
  rate_limit: number
  key: string
}
interface Meta {
  id: string
  revoked_at: number | null
}

let app: TestApp
let me: Call
let other: Call

beforeAll(async () => {
  app = await startApp()
  me = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
  other = caller(`${app.url}/console`, (await app.person('b@example.com')).headers)
})
afterAll(() => app[Symbol.asyncDispose]())

const issue = async (body?: unknown) => (await me<Issued>('POST', '/keys', body)).json()
const useKey = (key: string) =>
  fetch(`${app.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })

describe('issuing', () => {
  test('issuing a key answers 201 with the plaintext, once', async () => {
    const answer = await me<Issued>('POST', '/keys', { name: '手机' })
    expect(answer.status).toBe(201)
    const { id, prefix, rate_limit, key } = answer.json()
    expect(Object.keys(answer.json()).sort()).toEqual(['id', 'key', 'prefix', 'rate_limit'])
    expect(key).toMatch(/^sk-mb-[0-9a-f]{64}$/)
    expect(prefix).toBe(key.slice(0, 8))
    expect(rate_limit).toBe(60)
    expect((await useKey(key)).status).toBe(200)

    const list = await me<{ keys: Meta[] }>('GET', '/keys')
    expect(list.text).not.toContain(key)
    expect(list.json().keys[0]).toEqual({
      id,
      prefix,
      rate_limit: 60,
      created_at: expect.any(Number),
      revoked_at: null,
      app_id: null,
      device_id: null,
    } as unknown as Meta)
    const stored = await app.db.all<object>({ sql: 'SELECT * FROM api_key', args: [] })
    expect(JSON.stringify(stored)).not.toContain(key)
  })

  test.each([
    [undefined, 60],
    [{}, 60],
    [{ rate_limit: 0 }, 0],
    [{ rate_limit: 100_000 }, 100_000],
    [{ rate_limit: 100_001 }, 100_000],
    [{ rate_limit: 1e15, extra: 'ignored' }, 100_000],
  ])('a key issued with %j has a rate limit of %d', async (body, limit) => {
    expect((await issue(body)).rate_limit).toBe(limit)
  })

  test.each([
    [{ rate_limit: -1 }],
    [{ rate_limit: 1.5 }],
    [{ rate_limit: '60' }],
    [{ rate_limit: null }],
    [{ rate_limit: true }],
    [{ name: 5 }],
    ['[]'],
    ['{"rate_limit":1e999}'],
    ['{'],
  ])('issuing a key with %j is refused', async (body) => {
    const answer = await me('POST', '/keys', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toMatch(/\p{Script=Han}/u)
  })
})

describe('revoking', () => {
  test('revoking a key stops it at once and is idempotent', async () => {
    const { id, key } = await issue({ rate_limit: 0 })
    const first = await me('DELETE', `/keys/${id}`)
    expect([first.status, first.json()]).toEqual([200, { id, revoked: true }])
    expect((await useKey(key)).status).toBe(401)
    const at = async () =>
      (await me<{ keys: Meta[] }>('GET', '/keys')).json().keys.find((meta) => meta.id === id)
    const before = await at()
    expect(before?.revoked_at).toBeNumber()
    const second = await me('DELETE', `/keys/${id}`)
    expect([second.status, second.json()]).toEqual([200, { id, revoked: true }])
    expect(await at()).toEqual(before as Meta)
  })

  test('revoking a key of another tenant is 404', async () => {
    const { id, key } = await issue({ rate_limit: 0 })
    const foreign = await other('DELETE', `/keys/${id}`)
    const unknown = await other('DELETE', '/keys/01890000-0000-7000-8000-000000000000')
    expect(foreign.status).toBe(404)
    expect(foreign.text).toBe(unknown.text)
    expect((await useKey(key)).status).toBe(200)
  })
})

test('the list of keys shows one tenant, newest first', async () => {
  const [one, two] = [await issue(), await issue()]
  const ids = (await me<{ keys: Meta[] }>('GET', '/keys')).json().keys.map(({ id }) => id)
  expect(ids.slice(0, 2)).toEqual([two.id, one.id])
  expect((await other<{ keys: Meta[] }>('GET', '/keys')).json().keys).toEqual([])
})
