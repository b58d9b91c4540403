import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

type Headers = Readonly<Record<string, string>>
const messages = [{ role: 'user', content: 'hi' }]
const HI = { max_tokens: 5, messages }

async function refusal(path: string, headers: Headers, body?: object | string, method = 'POST') {
  const sent = typeof body === 'object' ? JSON.stringify(body) : body
  const init = sent === undefined ? { method, headers } : { method, headers, body: sent }
  const response = await fetch(`${app.url}${path}`, init)
  const { status, headers: told } = response
  return { status, told, code: told.get('x-error-code'), body: await response.json() }
}

/** How each door says what went wrong. */
const FORMS = {
  '/v1/messages': (type: string) => ({ type: 'error', error: { type } }),
  '/ollama/api/chat': () => ({ error: expect.any(String) }),
} as const
const doors = Object.keys(FORMS) as (keyof typeof FORMS)[]

describe.each(doors)('refusals of %s', (door) => {
  const form = FORMS[door]

  test('a key without tokens left has no turn, and is not to ask again', async () => {
    const { headers } = await app.key('budget@example.com', { dailyTokens: 1 })
    expect((await refusal(door, headers, { ...HI, stream: false })).status).toBe(200)
    await app.flush()
    for (const stream of [false, true]) {
      const { status, code, told, body } = await refusal(door, headers, { ...HI, stream })
      expect([status, code]).toEqual([429, 'budget_spent'])
      expect(told.get('x-should-retry')).toBe('false')
      expect(Number(told.get('retry-after'))).toBeGreaterThan(0)
      expect(body).toMatchObject(form('rate_limit_error'))
    }
    // What costs nothing goes on.
    for (const path of ['/v1/messages/count_tokens', '/ollama/api/show']) {
      expect((await refusal(path, headers, { messages, model: 'moonbase' })).status).toBe(200)
    }
    expect((await refusal('/ollama/api/tags', headers, undefined, 'GET')).status).toBe(200)
  })

  test('too many turns a minute, a body too large and another method', async () => {
    const { headers } = await app.key('rate@example.com', { rateLimit: 1 })
    const large = 'x'.repeat(48 * 1024 * 1024 + 1)
    expect(await refusal(door, headers, large)).toMatchObject({
      ...{ status: 413, code: 'body_too_large', body: form('request_too_large') },
    })
    const limited = await refusal(door, headers, HI)
    expect(limited).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(limited.body).toMatchObject(form('rate_limit_error'))
    expect(limited.told.get('x-should-retry')).toBeNull()
    expect(limited.told.get('retry-after')).toBeString()
    const other = await refusal(door, headers, undefined, 'GET')
    expect([other.status, other.told.get('allow')]).toEqual([405, 'POST'])
    expect(other.body).toMatchObject(form('invalid_request_error'))
  })
})

test('whether somebody answers is looked at where turns can ask, and nowhere else', async () => {
  const { headers } = await app.key('asks@example.com')
  const interactive = 'yes'
  const call = caller(app.url, headers)
  const status = async (path: string, body: object) =>
    (await call('POST', path, { interactive, ...body })).status
  expect(await status('/v1/agent', { text: 'x' })).toBe(400)
  expect(await status('/v1/runs', { text: 'x' })).toBe(202)
  expect(await status('/v1/schedules', { name: 's', text: 'x', cron: '0 9 * * *' })).toBe(201)
  expect(await status('/v1/chat/completions', { messages })).toBe(200)
  expect(await status('/v1/responses', { input: 'x' })).toBe(200)
  expect(await status('/v1/messages', HI)).toBe(200)
  expect(await status('/ollama/api/chat', { messages, stream: false })).toBe(200)
})
