import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startUpstream } from '../support/upstream.ts'

const DAY_MS = 86_400_000
const clock = fakeClock()
let app: TestApp
let me: Call

beforeAll(async () => {
  app = await startApp({ clock })
  me = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('settings', () => {
  const unset = { model: null, thinking: false, temperature: null, mcp_tools: [], titles: true }
  const defaults = { ...unset, ocr: 'off', ocr_model: null, name: 'a' }

  test('the settings are the platform defaults until they are saved', async () => {
    expect((await me('GET', '/settings')).json()).toEqual(defaults)
  })

  test.each([
    [
      { model: ' gpt ', thinking: true, temperature: 0 },
      { ...defaults, model: 'gpt', thinking: true, temperature: 0 },
    ],
    [
      { mcp_tools: ['home__light', ' home__* '] },
      { ...defaults, mcp_tools: ['home__light', 'home__*'] },
    ],
    [{ temperature: 2 }, { ...defaults, temperature: 2 }],
    [{ model: '', thinking: null, temperature: null }, defaults],
    [{ model: '型'.repeat(200) }, { ...defaults, model: '型'.repeat(200) }],
    [
      { price_in: 0, price_out: 2.5 },
      { ...defaults, price_in: 0, price_out: 2.5 },
    ],
    [{ price_in: null, price_out: null }, defaults],
    [{ titles: false }, { ...defaults, titles: false }],
    [{ titles: null }, defaults],
    [{}, defaults],
  ])('saving settings replaces every field (%#)', async (body, expected) => {
    const answer = await me('PUT', '/settings', body)
    expect([answer.status, answer.json()]).toEqual([200, expected])
    expect((await me('GET', '/settings')).json()).toEqual(expected)
  })

  test.each([
    [{ model: 5 }, 'model'],
    [{ model: '型'.repeat(201) }, 'model'],
    [{ thinking: 'yes' }, 'thinking'],
    [{ titles: 'yes' }, 'titles'],
    [{ temperature: 2.01 }, 'temperature'],
    [{ temperature: -0.1 }, 'temperature'],
    [{ temperature: '1' }, 'temperature'],
    [{ price_in: -1 }, 'price_in'],
    [{ price_out: 1_000_001 }, 'price_out'],
    [{ price_out: '1' }, 'price_out'],
    [{ mcp_tools: 'home__light' }, 'mcp_tools'],
    [{ mcp_tools: [''] }, 'mcp_tools'],
    [{ mcp_tools: Array(17).fill('a__b') }, 'mcp_tools'],
  ])('the settings %j are refused, and nothing changes', async (body, field) => {
    const answer = await me('PUT', '/settings', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(field)
    expect((await me('GET', '/settings')).json()).toEqual(defaults)
  })
})

describe('usage', () => {
  interface Report {
    total: number
    daily: { day: number; count: number }[]
    key_count: number
    [more: string]: unknown
  }
  const today = () => Math.floor(clock.now() / DAY_MS)
  const report = async (call: Call) => (await call<Report>('GET', '/usage')).json()

  test('usage is seven zeros for a tenant that never called', async () => {
    const nobody = caller(`${app.url}/console`, (await app.person('new@example.com')).headers)
    expect(await report(nobody)).toEqual({
      total: 0,
      daily: Array.from({ length: 7 }, (_, i) => ({
        ...{ day: today() - 6 + i, count: 0, input_tokens: 0, output_tokens: 0 },
      })),
      key_count: 0,
      tokens: { today: { input: 0, output: 0 }, total: { input: 0, output: 0 } },
      ...{ by_app: [], by_key: [], by_person: [], by_source: [], spent_today: [] },
      by_channel: [],
    })
  })

  test('usage counts each call once, but no 401, no 429 and no console call', async () => {
    const key = await app.key('a@example.com', { rateLimit: 3 })
    const machine = caller(`${app.url}/v1`, key.headers)
    expect((await machine('GET', '/sessions')).status).toBe(200)
    expect((await machine('GET', '/logs?status=abc')).status).toBe(400)
    expect((await machine('GET', '/apps/none')).status).toBe(404)
    expect((await machine('GET', '/sessions')).status).toBe(429)
    const wrong = caller(`${app.url}/v1`, { authorization: 'Bearer sk-mb-none' })
    expect((await wrong('GET', '/sessions')).status).toBe(401)
    const { total, daily, key_count } = await report(me)
    expect(total).toBe(3)
    expect(daily.at(-1)).toMatchObject({ day: today(), count: 3 })
    expect(key_count).toBe(1)
  })

  test('usage counts by day, shows seven days, and keeps revoked keys in the sum', async () => {
    const { id, headers } = await app.key('a@example.com')
    const machine = caller(`${app.url}/v1`, headers)
    for (const days of [1, 1, 5]) {
      clock.advance(days * DAY_MS)
      await machine('GET', '/sessions')
    }
    // A login holds seven days.
    me = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
    await me('DELETE', `/keys/${id}`)
    const { total, daily, key_count } = await report(me)
    expect(daily.map(({ count }) => count)).toEqual([1, 1, 0, 0, 0, 0, 1])
    expect(daily.map(({ day }) => day - today())).toEqual([-6, -5, -4, -3, -2, -1, 0])
    expect([total, key_count]).toEqual([6, 2])
  })

  test('calls by key are kept for thirty days, and those by app for good', async () => {
    const { tenantId, headers } = await app.key('b@example.com')
    await caller(`${app.url}/v1`, headers)('GET', '/sessions')
    await app.flush()
    const rows = async (table: string) => {
      await app.prune()
      const sql = `SELECT day FROM ${table} WHERE tenant_id = ?`
      return (await app.db.all({ sql, args: [tenantId] })).length
    }
    clock.advance(30 * DAY_MS)
    expect([await rows('usage_key_day'), await rows('usage_day')]).toEqual([1, 1])
    clock.advance(DAY_MS)
    expect([await rows('usage_key_day'), await rows('usage_day')]).toEqual([0, 1])
    me = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
  })

  test("usage has tokens by app, key and channel, including the studio's", async () => {
    const upstream = await startUpstream()
    using _ = { [Symbol.dispose]: () => void upstream.stop() }
    await using own = await startApp({ upstream: upstream.baseUrl })
    const person = caller(`${own.url}/console`, (await own.person()).headers)
    const app_id = (await person<{ id: string }>('POST', '/apps', { name: '客服' })).json().id
    const [general, ofApp] = [await own.key(), await own.key(undefined, { appId: app_id })]
    const ask = async (call: Call, more = {}) =>
      expect((await call('POST', '/agent', { text: 'hi', ...more })).status).toBe(200)
    await ask(caller(`${own.url}/v1`, general.headers))
    for (const _ of [1, 2, 3]) await ask(caller(`${own.url}/v1`, ofApp.headers))
    await ask(person, { app_id })
    // A general key that names an app acts as the app.
    const body = { model: '客服', messages: [{ role: 'user', content: 'hi' }] }
    const named = await caller(`${own.url}/v1`, general.headers)('POST', '/chat/completions', body)
    expect(named.json()).toMatchObject({ usage: { total_tokens: 18 } })
    const { total, daily, tokens, by_app, by_key, spent_today, by_channel } = await report(person)
    const ofKey = ({ id, key }: TestKey) => ({ key_id: id, prefix: key.slice(0, 8) })
    const times = (turns: number) => ({ input_tokens: 11 * turns, output_tokens: 7 * turns })
    expect(total).toBe(5)
    expect(daily.at(-1)).toMatchObject({ count: 5, ...times(6) })
    const alone = (await person<Report>('GET', `/usage?app_id=${app_id}`)).json()
    expect(alone.daily.at(-1)).toMatchObject({ count: 4, ...times(5) })
    expect(alone.tokens).toEqual(tokens)
    const all = { input: 66, output: 42 }
    expect(tokens).toEqual({ today: all, total: all })
    expect(by_app).toEqual([
      { app_id, calls: 4, ...times(5) },
      { app_id: null, calls: 1, ...times(1) },
    ])
    expect(by_key).toEqual([
      { ...ofKey(ofApp), calls: 3, ...times(3) },
      { ...ofKey(general), calls: 2, ...times(2) },
    ])
    expect(spent_today).toEqual([
      { key_id: ofApp.id, tokens: 54 },
      { key_id: general.id, tokens: 36 },
    ])
    expect(by_channel).toEqual([{ channel: 'platform', ...times(6) }])
  })

  test('usage shows one tenant only', async () => {
    await (await surfaceOf(app, '/v1', 'b@example.com'))('GET', '/sessions')
    const before = await report(me)
    await (await surfaceOf(app, '/v1', 'b@example.com'))('GET', '/sessions')
    expect(await report(me)).toEqual(before)
  })
})
