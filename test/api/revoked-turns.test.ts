import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { TURN_MS_MAX } from '../../src/core/limits/machine.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestKey } from '../support/app.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream } from '../support/upstream.ts'

const REFUSED = {
  type: 'error',
  message: '未授权：API 密钥缺失、无效或已被吊销',
  code: 'invalid_key',
}
const never = new Promise(() => {})

let world: Failover
beforeAll(async () => {
  world = await startFailover()
})
afterEach(() => world.reset())
afterAll(() => world[Symbol.asyncDispose]())

const openTurn = (key: TestKey, body: object = {}) =>
  postSse(`${world.app.url}/v1/agent`, {
    headers: key.headers,
    body: { text: 'hi', session_id: 's', ...body },
  })
const dataOf = async (stream: Awaited<ReturnType<typeof openTurn>>) =>
  (await stream.all()).map(({ data }) => data)
const owner = async (email: string) => {
  const { headers } = await world.app.person(email)
  return caller(`${world.app.url}/console`, headers)
}

type Ways = Readonly<Record<string, (email: string) => Promise<[TestKey, () => Promise<unknown>]>>>
const withDevice = async (email: string) => {
  const call = await owner(email)
  const device = (
    await call<{ id: string; activation_code: string }>('POST', '/devices', { name: 'd' })
  ).json()
  const answer = await fetch(`${world.app.url}/v1/devices/activate`, {
    method: 'POST',
    body: JSON.stringify({ code: device.activation_code }),
  })
  const { key } = (await answer.json()) as { key: string }
  const bearer = { id: '', tenantId: '', key, headers: { authorization: `Bearer ${key}` } }
  return { call, device, bearer }
}
const WAYS: Ways = {
  'its key is revoked': async (email) => {
    const key = await world.app.key(email)
    return [key, async () => (await owner(email))('DELETE', `/keys/${key.id}`)]
  },
  'its device gets a new code': async (email) => {
    const { call, device, bearer } = await withDevice(email)
    return [bearer, () => call('POST', `/devices/${device.id}/recode`)]
  },
  'its device is deleted': async (email) => {
    const { call, device, bearer } = await withDevice(email)
    return [bearer, () => call('DELETE', `/devices/${device.id}`)]
  },
  'its app is deleted': async (email) => {
    const call = await owner(email)
    const { id } = (await call<{ id: string }>('POST', '/apps', { name: 'a' })).json()
    const { key } = (await call<{ key: string }>('POST', `/apps/${id}/keys`)).json()
    const bearer = { id: '', tenantId: '', key, headers: { authorization: `Bearer ${key}` } }
    return [bearer, () => call('DELETE', `/apps/${id}`)]
  },
}

test.each(Object.keys(WAYS))('an open turn ends as soon as %s, and is not stored', async (way) => {
  const email = `${way.replaceAll(' ', '-')}@example.com`
  const [key, revoke] = (await WAYS[way]?.(email)) ?? []
  if (!key || !revoke) throw new Error('no such way')
  const bystander = await world.app.key(email)
  world.platform.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
  const turn = await openTurn(key)
  for await (const { data } of turn) if (data.type === 'llm_delta') break
  const gate = Promise.withResolvers<void>()
  world.platform.reply({ pieces: ['mine ', 'too'], hold: { after: 1, until: gate.promise } })
  const other = await openTurn(bystander, { session_id: 'other' })
  for await (const { data } of other) if (data.type === 'llm_delta') break
  await revoke()
  expect((await dataOf(turn)).at(-1)).toEqual(REFUSED)
  await world.platform.aborted()
  gate.resolve()
  expect((await dataOf(other)).at(-1)).toEqual({ type: 'llm_end', reply: 'mine too', seq: 1 })
  const { sessions } = (
    await (
      await owner(email)
    )<{ sessions: { id: string }[] }>('GET', '/sessions')
  ).json()
  expect(sessions.map(({ id }) => id)).toEqual(['other'])
})

test('a turn that waits for others of its session ends as soon as its key is revoked', async () => {
  const email = 'waiting@example.com'
  const [key, first] = [await world.app.key(email), await world.app.key(email)]
  const gate = Promise.withResolvers<void>()
  world.platform.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: gate.promise } })
  const running = await openTurn(first)
  for await (const { data } of running) if (data.type === 'llm_delta') break
  const waiting = await openTurn(key)
  expect((await (await owner(email))('DELETE', `/keys/${key.id}`)).status).toBe(200)
  expect(await dataOf(waiting)).toEqual([REFUSED])
  gate.resolve()
  expect((await dataOf(running)).at(-1)).toEqual({ type: 'llm_end', reply: 'one two', seq: 1 })
})

const CALL = { name: 'calculator', arguments: { expression: '6*7' } }
const CHANGES: readonly [string, string, object?][] = [
  ['removed', 'DELETE'],
  ['replaced', 'PUT', { base_url: 'https://example.com/v1', api_key: 'another' }],
]
test.each(CHANGES)(
  'an own channel that was %s gets no further call of an open turn',
  async (...change) => {
    const [, method, body] = change
    const tenant = await world.tenant()
    const gate = Promise.withResolvers<void>()
    world.byo.reply({ toolCalls: [CALL], hold: { after: 0, until: gate.promise } })
    const turn = await tenant.open()
    await world.byo.nextRequest('/chat/completions')
    const answer = await fetch(`${world.app.url}/v1/provider`, {
      method,
      headers: tenant.headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    expect(answer.status).toBe(200)
    gate.resolve()
    const events = (await turn.all()).map(({ data }) => data)
    expect(events).toEqual([
      {
        type: 'error',
        message: '自有模型的设置已更改，本轮已中止，请重试',
        code: 'model_channel_changed',
      },
    ])
    expect(world.asked(world.byo)).toHaveLength(1)
    expect(world.asked(world.platform)).toEqual([])
    expect((await tenant.history()).count).toBe(0)
  },
)

test('a removed channel is not asked for the summary of what was said on it', async () => {
  const tenant = await world.tenant()
  const long = { text: '长'.repeat(13_000) }
  await tenant.ask(long)
  const gate = Promise.withResolvers<void>()
  world.byo.reply({ pieces: ['the ', 'last'], hold: { after: 1, until: gate.promise } })
  const turn = await tenant.open(long)
  for await (const { data } of turn) if (data.type === 'llm_delta') break
  await fetch(`${world.app.url}/v1/provider`, { method: 'DELETE', headers: tenant.headers })
  gate.resolve()
  expect((await turn.all()).at(-1)?.data).toEqual({
    type: 'llm_end',
    reply: 'the last',
    seq: expect.any(Number),
  })
  await world.app.jobs.idle()
  expect(world.asked(world.byo)).toHaveLength(2)
  expect(await tenant.history()).toMatchObject({ summary: '', count: 4 })
})

/** The product with a model, whose longest times pass when `passTime` is called. */
async function startTimed() {
  const upstream = await startUpstream()
  const limits: (() => void)[] = []
  const timers = systemClock()
  const clock = {
    ...timers,
    after(ms: number, task: () => void) {
      if (ms === TURN_MS_MAX) limits.push(task)
      return timers.after(ms, task)
    },
  }
  const app = await startApp({ upstream: upstream.baseUrl, clock })
  const { headers } = await app.key()
  return {
    app,
    upstream,
    ask: (text: string) => postSse(`${app.url}/v1/agent`, { headers, body: { text } }),
    passTime: () => limits.splice(0).map((pass) => pass()),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await upstream.stop()
    },
  }
}

test('a turn ends after its longest time, even while its upstream continues', async () => {
  await using timed = await startTimed()
  timed.upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
  const turn = await timed.ask('hi')
  for await (const { data } of turn) if (data.type === 'llm_delta') break
  timed.passTime()
  expect((await turn.all()).at(-1)?.data).toEqual({
    type: 'error',
    message: '本轮用时过长，已中止，请重试',
    code: 'turn_too_long',
  })
  await timed.upstream.aborted()
  expect(timed.app.budget.used).toBe(0)
})

test('a summary that never finishes ends after the longest time of a turn', async () => {
  await using timed = await startTimed()
  await (await timed.ask('长'.repeat(13_000))).all()
  timed.upstream.reply({ text: 'second' })
  timed.upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
  await (await timed.ask('话'.repeat(13_000))).all()
  while (timed.upstream.requests.length < 3) await timed.upstream.nextRequest('/chat/completions')
  timed.passTime()
  await timed.app.jobs.idle()
  expect(timed.app.log()).toContain('the summary took too long')
  expect(timed.app.budget.used).toBe(0)
})
