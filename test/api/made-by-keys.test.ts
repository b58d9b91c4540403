import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { visitor } from '../support/shares.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let me: Call
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, env: { MB_TRUST_PROXY: '1' } })
  me = caller(`${app.url}/console`, (await app.person()).headers)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const by = ({ headers }: Pick<TestKey, 'headers'>): Call => caller(`${app.url}/v1`, headers)
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const newApp = async (call: Call = me) =>
  (await call<{ id: string }>('POST', '/apps', { name: 'made' })).json().id

interface Meta {
  id: string
  rate_limit: number
  daily_tokens: number
  device_id: string | null
  revoked_at: number | null
}
const metaOf = async (id: string) =>
  (await me<{ keys: Meta[] }>('GET', '/keys')).json().keys.find((key) => key.id === id)
const ofDevice = async (id: string) =>
  (await me<{ keys: Meta[] }>('GET', '/keys')).json().keys.find((key) => key.device_id === id)

async function appKey(call: Call, limits: object = {}) {
  const answer = await call<{ id: string; key: string }>(
    'POST',
    `/apps/${await newApp()}/keys`,
    limits,
  )
  const code = answer.headers.get('x-error-code')
  return { status: answer.status, code, ...(answer.status === 201 ? answer.json() : {}) }
}
const REFUSED = { status: 403, code: 'above_own_limit' }

/** Registers a device and redeems its code. */
async function device(call: Call) {
  const made = (
    await call<{ id: string; activation_code: string }>('POST', '/devices', { name: 'd' })
  ).json()
  return { id: made.id, ...(await activate(made.activation_code)) }
}
async function activate(code: string) {
  const answer = await caller(`${app.url}/v1`, { 'x-forwarded-for': '203.0.113.9' })<{
    key: string
  }>('POST', '/devices/activate', { code })
  return { status: answer.status, key: answer.status === 200 ? answer.json().key : '' }
}
const share = async (call: Call, more: object = {}) => {
  const appId = await newApp()
  const answer = await call<{ id: string; token: string; daily_turns: number }>(
    'POST',
    `/apps/${appId}/shares`,
    { name: 's', ...more },
  )
  return { appId, answer, code: answer.headers.get('x-error-code') }
}
const turn = async (key: Pick<TestKey, 'headers'>) =>
  (await by(key)('POST', '/agent', { text: 'hi' })).status

describe('what a key with limits makes', () => {
  test('a key of an app has none above them', async () => {
    const key = await app.key(undefined, { rateLimit: 20, dailyTokens: 300 })
    const call = by(key)
    for (const above of [
      { rate_limit: 21, daily_tokens: 300 },
      { rate_limit: 0, daily_tokens: 300 },
      { rate_limit: 20, daily_tokens: 301 },
      { rate_limit: 20, daily_tokens: 0 },
    ]) {
      expect(await appKey(call, above)).toEqual(REFUSED)
    }
    const same = await appKey(call, { rate_limit: 20, daily_tokens: 300 })
    expect(await metaOf(same.id ?? '')).toMatchObject({ rate_limit: 20, daily_tokens: 300 })
    const inherited = await appKey(call)
    expect(await metaOf(inherited.id ?? '')).toMatchObject({ rate_limit: 20, daily_tokens: 300 })
  })

  test('a key without limits, and a person, may make any', async () => {
    for (const call of [by(await app.key()), me]) {
      const made = await appKey(call, { rate_limit: 0, daily_tokens: 0 })
      expect(await metaOf(made.id ?? '')).toMatchObject({ rate_limit: 0, daily_tokens: 0 })
      const usual = await appKey(call)
      expect(await metaOf(usual.id ?? '')).toMatchObject({ rate_limit: 60, daily_tokens: 0 })
    }
  })

  test('a device gets a key with them, also by a new code for one of a person', async () => {
    const key = await app.key(undefined, { rateLimit: 20, dailyTokens: 18 })
    const made = await device(by(key))
    expect(await ofDevice(made.id)).toMatchObject({ rate_limit: 20, daily_tokens: 18 })
    expect([await turn(bearer(made.key)), await turn(bearer(made.key))]).toEqual([200, 429])

    const owned = await device(me)
    expect(await ofDevice(owned.id)).toMatchObject({ rate_limit: 60, daily_tokens: 0 })
    const recoded = await by(key)<{ activation_code: string }>(
      'POST',
      `/devices/${owned.id}/recode`,
    )
    const { key: again } = await activate(recoded.json().activation_code)
    expect([await turn(bearer(again)), await turn(bearer(again))]).toEqual([200, 429])
  })

  test('a share has no more turns than they allow, and their tokens a day', async () => {
    const key = await app.key(undefined, { rateLimit: 2, dailyTokens: 30 })
    const many = await share(by(key), { daily_turns: 31 })
    expect([many.answer.status, many.code]).toEqual([403, 'above_own_limit'])
    const { answer } = await share(by(key))
    expect([answer.status, answer.json().daily_turns]).toEqual([201, 30])
    const visit = visitor(app, '203.0.113.77')
    const { token } = answer.json()
    for (const status of [200, 200, 429]) {
      const stream = await visit(token, { text: 'hi' })
      expect(stream.status).toBe(status)
      if (status === 200) await stream.all()
    }
    const slow = await app.key(undefined, { rateLimit: 2 })
    expect((await share(by(slow), { daily_turns: 2_881 })).code).toBe('above_own_limit')
    expect((await share(by(slow), { daily_turns: 2_880 })).answer.status).toBe(201)
  })
})

test('forty visitors at once overshoot the tokens of a share by one turn', async () => {
  const key = await app.key('shares@example.com', { dailyTokens: 50 })
  const path = `/apps/${await newApp(by(key))}/shares`
  const { token } = (await by(key)<{ token: string }>('POST', path, { name: 's' })).json()
  const held = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['a'], hold: { after: 1, until: held.promise } })
  const visits = Array.from({ length: 40 }, (_, at) =>
    visitor(app, `203.0.113.${100 + at}`)(token, { text: 'hi' }),
  )
  const open = await Promise.all(visits)
  expect(open.filter(({ status }) => status === 429)).toHaveLength(39)
  held.resolve()
  await Promise.all(open.filter(({ status }) => status === 200).map((stream) => stream.all()))
  expect((await visitor(app, '203.0.113.99')(token, { text: 'hi' })).status).toBe(200)
})

describe('a key that is revoked', () => {
  test('names what it has made, and ends it if that is wished', async () => {
    const key = await app.key()
    const call = by(key)
    const made = await appKey(call)
    const active = await device(call)
    const waiting = (
      await call<{ id: string; activation_code: string }>('POST', '/devices', { name: 'w' })
    ).json()
    const { answer } = await share(call)
    const others = [await appKey(me), await device(me), await share(me)] as const

    const list = (
      await me<{ keys: Meta[]; devices: { id: string }[]; shares: { id: string }[] }>(
        'GET',
        `/keys/${key.id}/made`,
      )
    ).json()
    const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort()
    expect(idsOf(list.keys)).toEqual([made.id ?? ''])
    expect(idsOf(list.devices)).toEqual([active.id, waiting.id].sort())
    expect(idsOf(list.shares)).toEqual([answer.json().id])

    expect((await me('DELETE', `/keys/${key.id}?made=all`)).status).toBe(400)
    expect((await me('DELETE', `/keys/${key.id}?made=revoke`)).json()).toEqual({
      id: key.id,
      revoked: true,
    })
    expect(await turn(bearer(made.key ?? ''))).toBe(401)
    expect(await turn(bearer(active.key))).toBe(401)
    expect((await activate(waiting.activation_code)).status).toBe(401)
    expect((await visitor(app, '203.0.113.78')(answer.json().token, { text: 'hi' })).status).toBe(
      404,
    )
    const left = (await me('GET', `/keys/${key.id}/made`)).json()
    expect(left).toEqual({ keys: [], devices: [], shares: [] })

    expect(await turn(bearer(others[0].key ?? ''))).toBe(200)
    expect(await turn(bearer(others[1].key))).toBe(200)
    const visit = visitor(app, '203.0.113.79')
    expect((await visit(others[2].answer.json().token, { text: 'hi' })).status).toBe(200)
  })

  test('leaves what it has made where nothing else is wished, and may be asked again', async () => {
    const key = await app.key()
    const made = await appKey(by(key))
    await me('DELETE', `/keys/${key.id}`)
    expect(await turn(bearer(made.key ?? ''))).toBe(200)
    expect((await me('DELETE', `/keys/${key.id}?made=revoke`)).status).toBe(200)
    expect(await turn(bearer(made.key ?? ''))).toBe(401)
  })

  test('makes nothing that outlives it at the same moment', async () => {
    const key = await app.key()
    const appId = await newApp()
    const call = by(key)
    const making = Array.from({ length: 20 }, (_, n) => [
      call<{ key: string }>('POST', `/apps/${appId}/keys`),
      call('POST', '/devices', { name: `race ${n}` }),
      call('POST', `/apps/${appId}/shares`, { name: `race ${n}` }),
      ...(n === 4 ? [me('DELETE', `/keys/${key.id}?made=revoke`)] : []),
    ]).flat()
    const statuses = new Set((await Promise.all(making)).map(({ status }) => status))
    expect([...statuses].filter((status) => ![200, 201, 401, 403].includes(status))).toEqual([])
    const left = (await me('GET', `/keys/${key.id}/made`)).json()
    expect(left).toEqual({ keys: [], devices: [], shares: [] })
  })

  test('of another tenant is not found', async () => {
    const key = await app.key('other@example.com')
    expect((await me('GET', `/keys/${key.id}/made`)).status).toBe(404)
    expect((await me('DELETE', `/keys/${key.id}?made=revoke`)).status).toBe(404)
  })
})
