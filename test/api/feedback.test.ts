import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FeedbackResponse } from '../../src/features/feedback/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { deviceClient } from '../support/devices.ts'
import { startShare, visitor } from '../support/shares.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
const SESSION = `share-${'c'.repeat(32)}`
let upstream: Upstream
let app: TestApp
let visitors = 0

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.chat.always({ text: 'yes' })
  app = await startApp({ clock, upstream: upstream.baseUrl, env: { MB_TRUST_PROXY: '1' } })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

type Headers = Readonly<Record<string, string>>
const say = async (headers: Headers, session_id: string, more: object = {}) => {
  const at = headers.cookie === undefined ? '/v1/agent' : '/console/agent'
  const body = { text: 'hello', session_id, ...more }
  const events = await (await postSse(`${app.url}${at}`, { headers, body })).all()
  expect(events.at(-1)?.event).toBe('llm_end')
}
const thumb = (call: Call, surface: string, session: string, seq: unknown, body: object) =>
  call('PUT', `${surface}/sessions/${session}/turns/${seq}/feedback`, body)
const listOf = async (call: Call, query = '', surface = '/console') =>
  (await call<FeedbackResponse>('GET', `${surface}/feedback${query}`)).json()

describe('a thumb', () => {
  test('a person has one for each answer, changes it and takes it back', async () => {
    const { call, headers } = await startTeam(app)
    await say(headers, 's')
    const give = (body: object) => thumb(call, '/console', 's', 1, body)
    const down = { rating: -1, reason: 'wrong', text: '错了', share: true }
    expect((await give(down)).json()).toEqual({ seq: 1, rating: -1 })
    expect(await listOf(call)).toEqual({
      ...{ up: 0, down: 1 },
      by_app: [{ app_id: null, up: 0, down: 1 }],
      by_day: [{ day: clock.iso().slice(0, 10), up: 0, down: 1 }],
      items: [
        {
          ...{ id: expect.any(String), session_id: 's', seq: 1, app_id: null },
          ...{ rating: -1, reason: 'wrong', text: '错了', ts: clock.iso() },
        },
      ],
      next_before: null,
    })
    await give({ rating: 1 })
    expect(await listOf(call)).toMatchObject({
      ...{ up: 1, down: 0, items: [{ rating: 1, reason: null, text: null }] },
    })
    expect((await give({ rating: 0 })).json()).toEqual({ seq: 1, rating: 0 })
    expect((await give({ rating: 0 })).status).toBe(200)
    expect(await listOf(call)).toMatchObject({ up: 0, down: 0, by_app: [], by_day: [], items: [] })
  })

  test.each([
    [{}, 'field_invalid'],
    [{ rating: 2 }, 'field_invalid'],
    [{ rating: '1' }, 'field_invalid'],
    [{ rating: 1, reason: 'bad' }, 'unsupported_value'],
    [{ rating: 1, text: 'x'.repeat(501) }, 'field_too_long'],
    [{ rating: 1, text: 5 }, 'field_type'],
    [{ rating: 1, share: 'yes' }, 'field_type'],
  ])('the thumb %j is refused', async (body, code) => {
    const { call, headers } = await startTeam(app)
    await say(headers, 's')
    const answer = await thumb(call, '/console', 's', 1, body)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, code])
  })

  test.each(['2', '0', '-1', 'x', '1.5', '99999999999999999999'])(
    'for the unknown turn %s there is none',
    async (seq) => {
      const { call, headers } = await startTeam(app)
      await say(headers, 's')
      for (const rating of [1, 0]) {
        expect((await thumb(call, '/console', 's', seq, { rating })).status).toBe(404)
      }
      expect((await thumb(call, '/console', 'other', 1, { rating: 1 })).status).toBe(404)
    },
  )

  test('who may read a talk may rate it, once each', async () => {
    const { call, headers, join, email } = await startTeam(app)
    await say(headers, 'private')
    const colleague = await join('editor')
    const viewer = await join('viewer')
    const general = caller(app.url, (await app.key(email)).headers)
    const stranger = await startTeam(app)
    const body = { rating: -1 }
    for (const other of [colleague, viewer, stranger]) {
      expect((await thumb(other.call, '/console', 'private', 1, body)).status).toBe(404)
    }
    expect((await thumb(call, '/console', 'private', 1, body)).status).toBe(200)
    expect((await thumb(general, '/v1', 'private', 1, body)).status).toBe(200)
    await say(viewer.headers, 'of viewer')
    expect((await thumb(viewer.call, '/console', 'of viewer', 1, { rating: 1 })).status).toBe(200)
    expect(await listOf(call)).toMatchObject({ up: 1, down: 2 })
    expect((await viewer.call('GET', '/console/feedback')).status).toBe(403)
    expect(await listOf(colleague.call)).toMatchObject({ up: 1, down: 2 })
    expect(await listOf(stranger.call)).toMatchObject({ up: 0, down: 0, items: [] })
  })

  test("an app's key rates answers of its app, and a device none", async () => {
    const { call, email } = await startTeam(app)
    const made = async (name: string) =>
      (await call<{ id: string }>('POST', '/console/apps', { name })).json().id
    const [one, two] = [await made('one'), await made('two')]
    const [first, second] = [
      await app.key(email, { appId: one }),
      await app.key(email, { appId: two }),
    ]
    await say(first.headers, 'app')
    const body = { rating: 1 }
    expect((await thumb(caller(app.url, second.headers), '/v1', 'app', 1, body)).status).toBe(404)
    expect((await thumb(caller(app.url, first.headers), '/v1', 'app', 1, body)).status).toBe(200)
    const paired = await deviceClient(app, await app.key(email)).pair({ app_id: one })
    const device = caller(app.url, paired.device.headers)
    expect((await thumb(device, '/v1', 'app', 1, body)).status).toBe(403)
    for (const machine of [device, caller(app.url, first.headers)]) {
      expect((await machine('GET', '/v1/feedback')).status).toBe(403)
    }
    expect(await listOf(call, `?app_id=${one}`)).toMatchObject({ up: 1 })
    expect(await listOf(call, `?app_id=${two}`)).toMatchObject({ up: 0, items: [] })
  })

  test('words about a private talk are seen only where its person shows them', async () => {
    const { call, headers, email } = await startTeam(app)
    await say(headers, 'private')
    const machine = await app.key(email)
    await say(machine.headers, 'open')
    const general = caller(app.url, machine.headers)
    await thumb(general, '/v1', 'open', 1, { rating: -1, text: 'open words' })
    await thumb(call, '/console', 'private', 1, { rating: -1, text: 'secret words' })
    const texts = async () => [
      (await listOf(call)).items.map(({ text }) => text),
      (await listOf(general, '', '/v1')).items.map(({ text }) => text),
    ]
    const hidden = [null, 'open words']
    expect(await texts()).toEqual([hidden, hidden])
    await thumb(call, '/console', 'private', 1, { rating: -1, text: 'shown', share: true })
    const shown = ['shown', 'open words']
    expect(await texts()).toEqual([shown, shown])
    expect(app.log()).not.toContain('words')
  })

  test('the list goes by rating, time and pages', async () => {
    const { call, headers } = await startTeam(app)
    for (let seq = 1; seq <= 4; seq += 1) {
      await say(headers, 's')
      await thumb(call, '/console', 's', seq, { rating: seq % 2 === 0 ? 1 : -1 })
      clock.advance(1000)
    }
    const seqs = async (query: string) => (await listOf(call, query)).items.map(({ seq }) => seq)
    expect(await seqs('')).toEqual([4, 3, 2, 1])
    expect(await seqs('?rating=-1')).toEqual([3, 1])
    expect(
      await seqs(`?since=${encodeURIComponent(new Date(clock.now() - 2000).toISOString())}`),
    ).toEqual([4, 3])
    const page = await listOf(call, '?limit=3')
    expect([page.up, page.down, page.items.length]).toEqual([2, 2, 3])
    expect(await seqs(`?limit=3&before=${page.next_before}`)).toEqual([1])
    for (const query of ['?rating=2', '?since=yesterday']) {
      expect((await call('GET', `/console/feedback${query}`)).status).toBe(400)
    }
  })
})

describe('a thumb goes', () => {
  const rows = async (tenantId: string) => {
    const sql = 'SELECT session_id, seq FROM feedback WHERE tenant_id = ?'
    return (await app.db.all({ sql, args: [tenantId] })).length
  }

  test('with its session, and with the answer that another one replaces', async () => {
    const { call, headers, tenantId } = await startTeam(app)
    await say(headers, 's')
    await thumb(call, '/console', 's', 1, { rating: 1 })
    await say(headers, 's', { replace_last: true })
    expect(await rows(tenantId)).toBe(0)
    await thumb(call, '/console', 's', 1, { rating: 1 })
    expect(await rows(tenantId)).toBe(1)
    await call('DELETE', '/console/sessions/s')
    expect(await rows(tenantId)).toBe(0)
  })

  test('and is neither branched nor exported', async () => {
    const { call, headers, tenantId } = await startTeam(app)
    await say(headers, 's')
    await thumb(call, '/console', 's', 1, { rating: -1, text: 'SECRET', share: true })
    await call('POST', '/console/sessions/s/branch', { seq: 1 })
    expect(await rows(tenantId)).toBe(1)
    expect((await call('GET', '/console/sessions/s/export?format=json')).text).not.toContain(
      'SECRET',
    )
    expect((await call('GET', '/console/export')).text).not.toContain('SECRET')
  })
})

describe('a visitor', () => {
  const visit = async () => {
    const made = await startShare(app, { origins: ['https://shop.example'] })
    visitors += 1
    const address = `203.0.113.${visitors}`
    const events = await (
      await visitor(app, address)(made.share.token, { text: 'hi', session_id: SESSION })
    ).all()
    const seq = Number(events.at(-1)?.data.seq)
    const give = (body: object, headers: Headers = {}) =>
      fetch(`${app.url}/s/${made.share.token}/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
        body: JSON.stringify({ session_id: SESSION, seq, ...body }),
      })
    return { ...made, seq, give }
  }

  test('a visitor rates an answer in the own session alone', async () => {
    const { give, call, appId } = await visit()
    expect(await (await give({ rating: -1, reason: 'source' })).json()).toEqual({
      ...{ seq: 1, rating: -1 },
    })
    expect(await listOf(call)).toMatchObject({
      down: 1,
      items: [{ app_id: appId, reason: 'source', text: null }],
    })
    await give({ rating: 1 })
    expect(await listOf(call)).toMatchObject({ up: 1, down: 0 })
    const other = { session_id: `share-${'d'.repeat(32)}` }
    expect((await give({ rating: 1, ...other })).status).toBe(404)
    expect((await give({ rating: 1, seq: 2 })).status).toBe(404)
    expect((await give({ rating: 1, session_id: 'anon' })).status).toBe(400)
    expect((await give({ rating: 5 })).status).toBe(400)
    expect((await give({ rating: 0 })).status).toBe(200)
    expect(await listOf(call)).toMatchObject({ up: 0, down: 0 })
  })

  test('pages of its sites may send it, others not, and ten a minute', async () => {
    const { give } = await visit()
    expect((await give({ rating: 1 }, { origin: 'https://evil.example' })).status).toBe(403)
    const allowed = await give({ rating: 1 }, { origin: 'https://shop.example' })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    for (let n = 1; n < 10; n += 1) expect((await give({ rating: 1 })).status).toBe(200)
    const refused = await give({ rating: 1 })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'rate_limited'])
  })
})
