import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { oldClient } from '../support/mcp-clients.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const SPENT = '今日额度已用完'
const HOUR_MS = 3_600_000
/** Half past ten in the evening, so that the day ends in 5,400 seconds. */
const EVENING = Date.UTC(2026, 10, 21, 22, 30)

let upstream: Upstream
let app: TestApp
let me: Call
const clock = fakeClock({ start: EVENING })

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
  me = caller(`${app.url}/console`, (await app.person()).headers)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

interface Meta {
  id: string
  daily_tokens: number
}
interface Report {
  tokens: { today: { input: number; output: number } }
  by_key: { key_id: string; calls: number; input_tokens: number; output_tokens: number }[]
}

const insufficient = { type: 'rate_limit_error', param: null, code: 'insufficient_quota' }
const used = (input: number, output: number) => ({ text: 'ok', usage: { input, output } })
const ask = ({ headers }: Pick<TestKey, 'headers'>, to: TestApp = app) =>
  fetch(`${to.url}/v1/agent`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'hi', session_id: crypto.randomUUID() }),
  })
/** The status of a turn, once it is over. */
async function turn(key: Pick<TestKey, 'headers'>, to?: TestApp): Promise<number> {
  const response = await ask(key, to)
  await response.text()
  return response.status
}
const report = async () => (await me<Report>('GET', '/usage')).json()
const ofKey = async ({ id }: TestKey) => (await report()).by_key.find((row) => row.key_id === id)

describe('a daily budget', () => {
  test('a key is spent once its turns have used the tokens, to the token', async () => {
    const key = await app.key(undefined, { dailyTokens: 100 })
    upstream.reply(used(60, 30))
    upstream.reply(used(9, 0))
    upstream.reply(used(1, 0))
    expect(await turn(key)).toBe(200)
    expect(await turn(key)).toBe(200)
    expect(await turn(key)).toBe(200)
    const refused = await ask(key)
    expect(refused.status).toBe(429)
    expect(await refused.text()).toBe(SPENT)
    expect(refused.headers.get('x-error-code')).toBe('budget_spent')
    expect(refused.headers.get('retry-after')).toBe('5400')
    expect(upstream.requests).toHaveLength(3)
    expect(await ofKey(key)).toMatchObject({ calls: 3, input_tokens: 70, output_tokens: 30 })
  })

  test('a spent key may do what needs no model, and a voice turn is refused at once', async () => {
    const key = await app.key(undefined, { dailyTokens: 1 })
    await turn(key)
    expect((await fetch(`${app.url}/v1/sessions`, { headers: key.headers })).status).toBe(200)
    const voice = await caller(`${app.url}/v1`, key.headers)('POST', '/voice', {
      audio_b64: 'no sound',
    })
    expect([voice.status, voice.text]).toEqual([429, SPENT])
  })

  test("OpenAI's clients are told that the quota is spent, and not to try again", async () => {
    const key = await app.key(undefined, { dailyTokens: 1 })
    await turn(key)
    for (const [path, body] of [
      ['/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
      ['/chat/completions', { stream: true, messages: [{ role: 'user', content: 'hi' }] }],
      ['/responses', { input: 'hi' }],
    ] as const) {
      const answer = await caller(`${app.url}/v1`, key.headers)('POST', path, body)
      expect([answer.status, answer.json()]).toEqual([
        429,
        { error: { ...insufficient, message: SPENT } },
      ])
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })

  test('a spent key may search by MCP, and is told when it asks the agent', async () => {
    const key = await app.key(undefined, { dailyTokens: 19 })
    await turn(key)
    await using client = await oldClient({ url: app.url, headers: key.headers })
    expect((await client.call('ask_agent', { text: 'hi' })).isError).not.toBe(true)
    const refused = await client.call('ask_agent', { text: 'hi' })
    expect([refused.isError, refused.content[0]?.text]).toEqual([true, SPENT])
    expect((await client.call('search_knowledge_base', { query: 'hi' })).isError).not.toBe(true)
    expect(await ofKey(key)).toMatchObject({ input_tokens: 22, output_tokens: 14 })
  })

  test('a budget is asked after the rate limit and before the body', async () => {
    const key = await app.key(undefined, { dailyTokens: 1, rateLimit: 2 })
    await turn(key)
    const machine = caller(`${app.url}/v1`, key.headers)
    const second = await machine('POST', '/agent', '{ no json')
    expect([second.status, second.text]).toEqual([429, SPENT])
    expect(second.headers.get('x-ratelimit-remaining')).toBe('0')
    const third = await machine('POST', '/agent', { text: 'hi' })
    expect(third.headers.get('x-error-code')).toBe('rate_limited')
  })

  test('an app key has a budget of its own, and a device key gets one later', async () => {
    const { id: appId } = (await me<Meta>('POST', '/apps', { name: '客服' })).json()
    const path = `/apps/${appId}/keys`
    const asked = { daily_tokens: 18, rate_limit: 0 }
    const { key } = (await me<{ key: string }>('POST', path, asked)).json()
    const appKey = { headers: { authorization: `Bearer ${key}` } }
    expect([await turn(appKey), await turn(appKey)]).toEqual([200, 429])

    const device = await app.key(undefined, { deviceId: 'device-1' })
    expect(await turn(device)).toBe(200)
    expect((await me('PUT', `/keys/${device.id}`, { daily_tokens: 18 })).status).toBe(200)
    expect(await turn(device)).toBe(429)
    expect((await me('PUT', `/keys/${device.id}`, { daily_tokens: 19 })).status).toBe(200)
    expect(await turn(device)).toBe(200)
  })

  test('the tokens of tool rounds and of turns that fail or are left count, too', async () => {
    const key = await app.key(undefined, { dailyTokens: 1_000_000 })
    const call = { name: 'calculator', arguments: { expression: '1+1' } }
    upstream.reply({ ...used(100, 20), toolCalls: [call] })
    upstream.fault(401)
    expect(await (await ask(key)).text()).toContain('event: error')
    expect(await ofKey(key)).toMatchObject({ input_tokens: 100, output_tokens: 20 })

    const held = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['一二三四'], usage: null, hold: { after: 1, until: held.promise } })
    upstream.reply(used(0, 1))
    const inSession = { headers: key.headers, body: { text: 'hi', session_id: 'left' } }
    const left = await postSse(`${app.url}/v1/agent`, inSession)
    for await (const { event } of left) if (event === 'llm_delta') break
    left.abort()
    // It begins when the turn before it is over.
    await (await postSse(`${app.url}/v1/agent`, inSession)).all()
    held.resolve()
    expect((await ofKey(key))?.output_tokens).toBe(20 + 4 + 1)
  })

  test('forty turns that begin before any ends overshoot a budget by one turn', async () => {
    const key = await app.key(undefined, { dailyTokens: 10 })
    const held = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['a'], hold: { after: 1, until: held.promise } })
    const open = await Promise.all(Array.from({ length: 40 }, () => ask(key)))
    const refused = open.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(39)
    const [one] = refused
    expect([one?.headers.get('x-error-code'), one?.headers.get('retry-after')]).toEqual([
      'budget_spent',
      '5',
    ])
    held.resolve()
    await Promise.all(open.map((response) => response.text()))
    expect((await ask(key)).headers.get('retry-after')).toBe('5400')
    expect(await ofKey(key)).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  })

  test('turns side by side hold what they may use, and give it back when they end', async () => {
    const key = await app.key(undefined, { dailyTokens: 10_000 })
    const held = Promise.withResolvers<void>()
    for (let turns = 0; turns < 3; turns++) {
      upstream.reply({ pieces: ['a'], hold: { after: 1, until: held.promise } })
    }
    const open = await Promise.all(Array.from({ length: 5 }, () => ask(key)))
    expect(open.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
    held.resolve()
    await Promise.all(open.map((response) => response.text()))
    const again = await Promise.all(Array.from({ length: 3 }, () => turn(key)))
    expect(again).toEqual([200, 200, 200])

    // Of a turn that its client leaves, too.
    upstream.reply({ pieces: ['a'], hold: { after: 1, until: new Promise(() => {}) } })
    const inSession = { headers: key.headers, body: { text: 'hi', session_id: 'gone' } }
    const left = await postSse(`${app.url}/v1/agent`, inSession)
    for await (const { event } of left) if (event === 'llm_delta') break
    left.abort()
    await upstream.aborted()
    const after = await Promise.all(Array.from({ length: 3 }, () => turn(key)))
    expect(after).toEqual([200, 200, 200])
  })

  test('a budget is full again at midnight UTC', async () => {
    const key = await app.key(undefined, { dailyTokens: 18 })
    expect([await turn(key), await turn(key)]).toEqual([200, 429])
    clock.advance(1.5 * HOUR_MS - 1)
    expect((await ask(key)).headers.get('retry-after')).toBe('1')
    clock.advance(1)
    expect([await turn(key), await turn(key)]).toEqual([200, 429])
    me = caller(`${app.url}/console`, (await app.person()).headers)
    expect((await report()).tokens.today).toEqual({ input: 11, output: 7 })
  })

  test('what a turn has spent of a budget is stored when the turn is', async () => {
    const key = await app.key(undefined, { dailyTokens: 1_000 })
    for (const turns of [1, 2, 3]) {
      await turn(key)
      const [row] = await app.db.all<{ tokens: number }>({
        sql: `SELECT sum(input_tokens + output_tokens) AS tokens
          FROM usage_key_day WHERE key_id = ?`,
        args: [key.id],
      })
      expect(row?.tokens).toBe(18 * turns)
    }
  })

  test('a budget is exact across a restart', async () => {
    using folder = tempFolder()
    const options = { upstream: upstream.baseUrl, clock, dataDir: folder.path }
    let key: TestKey
    {
      await using first = await startApp(options)
      key = await first.key(undefined, { dailyTokens: 37 })
      expect([await turn(key, first), await turn(key, first)]).toEqual([200, 200])
    }
    await using second = await startApp(options)
    upstream.reply(used(1, 0))
    expect([await turn(key, second), await turn(key, second)]).toEqual([200, 429])
  })
})
