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
  last_used_at?: string | null
  calls_7d?: number
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
      tail: key.slice(-4),
      name: '手机',
      daily_tokens: 0,
      last_used_at: expect.any(String),
      calls_7d: 1,
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

describe('changing', () => {
  const listed = async (id: string) =>
    (await me<{ keys: Meta[] }>('GET', '/keys')).json().keys.find((meta) => meta.id === id)

  test('changing a key keeps what is omitted, and counts from the next request on', async () => {
    const { id, key } = await issue({ name: ' 手机 ', rate_limit: 0, daily_tokens: 5 })
    await useKey(key)
    const first = await me<Meta>('PUT', `/keys/${id}`, { rate_limit: 1 })
    expect([first.status, first.json()]).toEqual([200, (await listed(id)) as Meta])
    expect(first.json()).toMatchObject({
      ...{ id, name: '手机', rate_limit: 1, daily_tokens: 5, tail: key.slice(-4), calls_7d: 1 },
    })
    expect([(await useKey(key)).status, (await useKey(key)).status]).toEqual([200, 429])
    const second = await me('PUT', `/keys/${id}`, { name: '', daily_tokens: 10 ** 12 })
    expect(second.json()).toMatchObject({ name: '', rate_limit: 1, daily_tokens: 10 ** 12 })
    expect((await me('PUT', `/keys/${id}`, {})).json()).toEqual(second.json())
  })

  test.each([
    [{ daily_tokens: -1 }],
    [{ daily_tokens: 10 ** 12 + 1 }],
    [{ daily_tokens: 0.5 }],
    [{ daily_tokens: null }],
    [{ rate_limit: -1 }],
    [{ name: '名'.repeat(61) }],
    [{ name: null }],
    [[]],
  ])('changing a key to %j is refused, and nothing changes', async (body) => {
    const { id } = await issue({ name: '名'.repeat(60) })
    expect((await me('PUT', `/keys/${id}`, body)).status).toBe(400)
    expect(await listed(id)).toMatchObject({ name: '名'.repeat(60), rate_limit: 60 })
    if (!('rate_limit' in body)) expect((await me('POST', '/keys', body)).status).toBe(400)
  })

  test('changing a key of another tenant is 404', async () => {
    const { id } = await issue()
    const foreign = await other('PUT', `/keys/${id}`, { rate_limit: 1 })
    const unknown = await other('PUT', '/keys/none', { rate_limit: 1 })
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect(await listed(id)).toMatchObject({ rate_limit: 60 })
  })

  test('a key shows when it was last used, and how often in seven days', async () => {
    const { id, key } = await issue({ rate_limit: 0 })
    expect(await listed(id)).toMatchObject({ last_used_at: null, calls_7d: 0 })
    const before = new Date().toISOString()
    await useKey(key)
    await useKey(key)
    const { last_used_at, calls_7d } = (await listed(id)) ?? {}
    expect(calls_7d).toBe(2)
    expect(last_used_at && last_used_at >= before).toBe(true)
  })

  test('a call that names an app is a use of its key', async () => {
    const { id, key } = await issue({ rate_limit: 0 })
    expect((await me('POST', '/apps', { name: '客服' })).status).toBe(201)
    const ask = caller(app.url, { authorization: `Bearer ${key}` })
    const messages = [{ role: 'user', content: '你好' }]
    await ask('POST', '/v1/chat/completions', { model: '客服', messages })
    expect(await listed(id)).toMatchObject({ last_used_at: expect.any(String), calls_7d: 1 })
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
