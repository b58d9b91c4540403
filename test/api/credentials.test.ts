import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'

const clock = fakeClock()
let app: TestApp

beforeAll(async () => {
  app = await startApp({ clock })
})
afterAll(() => app[Symbol.asyncDispose]())

const sessions = (headers: Record<string, string>) => fetch(`${app.url}/v1/sessions`, { headers })

describe('a missing or wrong key', () => {
  const unknown = `Bearer sk-mb-${'0'.repeat(64)}`
  const wrong: [string, Record<string, string>][] = [
    ['no header', {}],
    ['empty', { authorization: '' }],
    ['another scheme', { authorization: 'Basic abc' }],
    ['no token', { authorization: 'Bearer ' }],
    ['an unknown key', { authorization: unknown }],
    ['upper case', { authorization: unknown.toUpperCase() }],
    ['SQL', { authorization: "Bearer ' OR 1=1 --" }],
    ['very long', { authorization: `Bearer ${'a'.repeat(4000)}` }],
    ['in a query', { 'x-api-key': unknown }],
  ]
  test('every missing or wrong key gets the same 401', async () => {
    const answers = await Promise.all(wrong.map(([, headers]) => sessions(headers)))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 401))
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).toMatch(/\p{Script=Han}/u)
  })

  test('a revoked key gets the same 401 as a missing one', async () => {
    const { id, headers } = await app.key()
    expect((await sessions(headers)).status).toBe(200)
    await app.db.run({ sql: 'UPDATE api_key SET revoked_at = 1 WHERE id = ?', args: [id] })
    const answer = await sessions(headers)
    expect(answer.status).toBe(401)
    expect(await answer.text()).toBe(await (await sessions({})).text())
  })

  test('a missing key is refused before the body is read or parsed', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1024))
        if (pulled > 100_000) controller.close()
      },
    })
    const answer = await fetch(`${app.url}/v1/agent`, { method: 'POST', body })
    expect(answer.status).toBe(401)
    expect(pulled).toBeLessThan(100_000)
    const broken = await fetch(`${app.url}/v1/agent`, { method: 'POST', body: '{bad' })
    expect(broken.status).toBe(401)
  })
})

describe('the rate limit of a key', () => {
  test('the rate limit of a key is a fixed window of 60 s with headers', async () => {
    const { headers } = await app.key('limit@example.com', { rateLimit: 2 })
    const first = await sessions(headers)
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset')).toBe('60')
    clock.advance(20_500)
    expect((await sessions(headers)).headers.get('x-ratelimit-remaining')).toBe('0')
    const refused = await sessions(headers)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('40')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(await refused.text()).toMatch(/\p{Script=Han}/u)
    clock.advance(39_499)
    const last = await sessions(headers)
    expect(last.status).toBe(429)
    expect(last.headers.get('retry-after')).toBe('1')
    clock.advance(1)
    expect((await sessions(headers)).status).toBe(200)
  })

  test('the rate limit counts requests that fail later, and no request without a key', async () => {
    const { headers } = await app.key('count@example.com', { rateLimit: 2 })
    await sessions({})
    const bad = await fetch(`${app.url}/v1/agent`, { method: 'POST', headers, body: '{' })
    expect(bad.status).toBe(400)
    expect(bad.headers.get('x-ratelimit-remaining')).toBe('1')
    expect((await sessions(headers)).status).toBe(200)
    expect((await sessions(headers)).status).toBe(429)
  })

  test('the rate limit is checked before the rights and the body', async () => {
    const { headers } = await app.key('order@example.com', { rateLimit: 1, appId: 'some-app' })
    const refused = await fetch(`${app.url}/v1/sessions`, { headers })
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('应用级密钥')
    expect((await fetch(`${app.url}/v1/sessions`, { headers })).status).toBe(429)
  })

  test('a rate limit of 0 is unlimited and sends no headers', async () => {
    const { headers } = await app.key('free@example.com', { rateLimit: 0 })
    const answers = await Promise.all(Array.from({ length: 80 }, () => sessions(headers)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBeNull()
  })

  test('a rate limit is clamped at 100000', async () => {
    const { headers } = await app.key('much@example.com', { rateLimit: 5_000_000 })
    expect((await sessions(headers)).headers.get('x-ratelimit-limit')).toBe('100000')
  })
})

test('the key alone decides the tenant of a request', async () => {
  const mine = await app.key('mine@example.com')
  const other = await app.key('other@example.com')
  const ask = await fetch(`${app.url}/v1/agent`, {
    method: 'POST',
    headers: mine.headers,
    body: JSON.stringify({ text: 'secret plan', session_id: 'x', tenant_id: other.tenantId }),
  })
  await ask.text()
  const theirs = await fetch(`${app.url}/v1/sessions/x/history`, { headers: other.headers })
  expect(await theirs.json()).toEqual({ messages: [], summary: '', count: 0 })
  const own = await fetch(`${app.url}/v1/sessions/x/history`, { headers: mine.headers })
  expect(JSON.stringify(await own.json())).toContain('secret plan')
})

test('the server log never holds a key or a message', async () => {
  const { key, headers } = await app.key('log@example.com')
  await fetch(`${app.url}/v1/agent`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text: 'not for the log' }),
  }).then((response) => response.text())
  expect(app.log()).not.toContain(key)
  expect(app.log()).not.toContain('not for the log')
})
