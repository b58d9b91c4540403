import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { startApp } from '../support/app.ts'
import { ESTIMATED, turnStats } from '../support/conversation.ts'
import { BYO_KEY, type Failover, startFailover } from '../support/failover.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

let world: Failover
beforeAll(async () => {
  world = await startFailover()
})
afterEach(() => world.reset())
afterAll(() => world[Symbol.asyncDispose]())

const CALL = { name: 'calculator', arguments: { expression: '6*7' } }
const types = (events: readonly Record<string, unknown>[]) => events.map(({ type }) => type)
const fallback = (reason: string) => ({ type: 'provider_fallback', from: 'byo', reason })
async function loggedTurns(tenantId: string) {
  await world.app.flush()
  return world.app.db.all<{ channel: string; status: number; error_class: string | null }>({
    sql: `SELECT channel, status, error_class FROM request_log
      WHERE tenant_id = ? AND endpoint = '/v1/agent' ORDER BY ts, id`,
    args: [tenantId],
  })
}
const stats = (channel: string) => turnStats(channel)

describe('the channel that answers', () => {
  test('a turn uses the own channel while it works, the platform without one', async () => {
    const tenant = await world.tenant()
    world.byo.reply({ text: 'mine' })
    expect((await tenant.ask()).slice(1)).toEqual([
      stats('byo'),
      { type: 'llm_end', reply: 'mine', seq: 1 },
    ])
    await fetch(`${world.app.url}/v1/provider`, { method: 'DELETE', headers: tenant.headers })
    expect(await tenant.ask()).toContainEqual(stats('platform'))
  })

  test('a turn that waited uses, and logs, the channel configured when it begins', async () => {
    const tenant = await world.tenant()
    const gate = Promise.withResolvers<void>()
    world.byo.reply({ pieces: ['mine'], hold: { after: 1, until: gate.promise } })
    const first = await tenant.open()
    await world.byo.nextRequest('/chat/completions')
    const second = await tenant.open()
    await fetch(`${world.app.url}/v1/provider`, { method: 'DELETE', headers: tenant.headers })
    gate.resolve()
    const told = async (stream: typeof first) => (await stream.all()).map(({ data }) => data)
    expect(await told(first)).toContainEqual(stats('byo'))
    expect(await told(second)).toContainEqual(stats('platform'))
    expect(world.asked(world.byo)).toHaveLength(1)
    expect((await loggedTurns(tenant.tenantId)).map(({ channel }) => channel)).toEqual([
      'byo',
      'platform',
    ])
  })

  test('the request log names the configured channel, even after a fallback', async () => {
    const tenant = await world.tenant()
    world.byo.fault(401)
    expect(await tenant.ask()).toContainEqual(stats('platform_fallback'))
    await fetch(`${world.app.url}/v1/provider`, { method: 'DELETE', headers: tenant.headers })
    await tenant.ask()
    expect(await loggedTurns(tenant.tenantId)).toEqual([
      { channel: 'byo', status: 200, error_class: null },
      { channel: 'platform', status: 200, error_class: null },
    ])
  })

  test('a model that refuses tools is asked again without them', async () => {
    const tenant = await world.tenant()
    world.byo.fault(400, { body: '{"error":{"message":"this model does not support tools"}}' })
    expect(await tenant.ask()).toContainEqual(stats('byo'))
    const tools = world.asked(world.byo).map(({ body }) => body.tools?.length ?? 0)
    expect(tools).toEqual([expect.any(Number), 0])
    expect(tools[0]).toBeGreaterThan(0)
  })
})

describe('the re-run', () => {
  test('a turn that fell back uses tools like any other', async () => {
    const tenant = await world.tenant()
    world.byo.fault('cut', { after: 1 })
    world.platform.reply({ toolCalls: [CALL] })
    world.platform.reply({ pieces: ['42'] })
    expect(await tenant.ask()).toEqual([
      { type: 'llm_delta', text: 'one ' },
      fallback('provider_error'),
      { type: 'tool_call', name: 'calculator' },
      { type: 'tool_result', name: 'calculator', ok: true },
      { type: 'llm_delta', text: '42' },
      turnStats('platform_fallback', 2, ESTIMATED),
      { type: 'llm_end', reply: '42', seq: 1 },
    ])
  })

  test('a turn whose fallback fails too ends with an error, and nothing is kept', async () => {
    const tenant = await world.tenant()
    world.byo.fault(401)
    world.platform.chat.alwaysFault('eof', { after: 2 })
    const events = await tenant.ask()
    expect(events[0]).toEqual(fallback('upstream_4xx'))
    expect(types(events).slice(-2)).toEqual(['llm_delta', 'error'])
    expect((await tenant.history()).count).toBe(0)
  })

  test('the fallback writes the summary, too; a channel that works writes its own', async () => {
    const tenant = await world.tenant()
    const long = { text: '长'.repeat(13_000) }
    world.byo.chat.alwaysFault(401)
    world.platform.reply({ text: 'a' })
    world.platform.reply({ text: 'b' })
    world.platform.reply({ text: 'SUMMARY' })
    await tenant.ask(long)
    await tenant.ask(long)
    await world.app.jobs.idle()
    expect(await tenant.history()).toMatchObject({ summary: 'SUMMARY', count: 2 })
    const asked = world.asked(world.platform)
    expect(asked.map(({ body }) => body.model)).toEqual(['fake', 'fake', 'fake'])

    world.byo.reset()
    world.byo.reply({ text: 'c' })
    world.byo.reply({ text: 'OWN SUMMARY' })
    await tenant.ask(long)
    await world.app.jobs.idle()
    expect(await tenant.history()).toMatchObject({ summary: 'OWN SUMMARY', count: 2 })
    expect(world.asked(world.platform)).toHaveLength(3)
  })

  test('a turn that falls back announces its passages once', async () => {
    const tenant = await world.tenant()
    const text = '月球基地的供电来自南极的太阳能板'
    const stored = await fetch(`${world.app.url}/v1/kb/docs`, {
      method: 'POST',
      headers: tenant.headers,
      body: JSON.stringify({ title: '供电', text }),
    })
    expect(stored.status).toBe(201)
    world.byo.fault('eof', { after: 1 })
    const events = await tenant.ask({ text })
    expect(types(events).slice(0, 4)).toEqual([
      'kb_refs',
      'llm_delta',
      'provider_fallback',
      'llm_delta',
    ])
    expect(types(events).filter((type) => type === 'kb_refs')).toHaveLength(1)
    expect(JSON.stringify(world.asked(world.platform).at(-1)?.body.messages)).toContain(text)
  })

  test('a turn falls back after tool calls without end', async () => {
    const tenant = await world.tenant()
    world.byo.chat.always({ toolCalls: [CALL] })
    const events = await tenant.ask()
    expect(types(events)).toEqual([
      ...Array(7).fill(['tool_call', 'tool_result']).flat(),
      'provider_fallback',
      'llm_delta',
      'stats',
      'llm_end',
    ])
    expect(world.asked(world.byo)).toHaveLength(8)
  })

  test('a turn remembers earlier turns of either channel', async () => {
    const tenant = await world.tenant()
    world.byo.reply({ text: 'by my own' })
    await tenant.ask()
    world.byo.fault(403)
    world.platform.reply({ text: 'by the platform' })
    await tenant.ask()
    await tenant.ask()
    const told = world
      .asked(world.byo)
      .at(-1)
      ?.body.messages.map(({ content }) => content)
    expect(told?.slice(1)).toEqual(['hi', 'by my own', 'hi', 'by the platform', 'hi'])
  })
})

describe('a channel that is unavailable', () => {
  for (const failover of [true, false]) {
    for (const [name, env] of [
      ['host refused when connecting', { MB_ALLOW_PRIVATE_HOSTS: '' }],
      [
        'key that cannot be decrypted',
        { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_ENCRYPTION_KEY: 'cd'.repeat(32) },
      ],
      [
        'encryption switched off',
        { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_ENCRYPTION_KEY: 'off' },
      ],
    ] as const) {
      test(`unavailable own channel: ${name}, failover ${failover ? 'on' : 'off'}`, async () => {
        using folder = tempFolder()
        const base = { MB_DATA_DIR: folder.path }
        const upstream = world.platform.baseUrl
        const body = { base_url: world.byo.baseUrl, api_key: BYO_KEY, failover }
        {
          const env = { ...base, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
          await using before = await startApp({ upstream, env })
          const { headers } = await before.key()
          const url = `${before.url}/v1/provider`
          const put = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
          expect(put.status).toBe(200)
        }
        await using app = await startApp({ upstream, env: { ...base, ...env } })
        const { headers } = await app.key()
        const stream = await postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi' } })
        const events = (await stream.all()).map(({ data }) => data)
        const announced = [fallback('channel_unavailable'), expect.anything()]
        const told = [
          {
            type: 'error',
            message: '自有模型不可用，请检查它的设置',
            code: 'model_channel_unavailable',
          },
        ]
        expect(events.slice(0, failover ? 2 : 1)).toEqual(failover ? announced : told)
        expect(events.at(-1)?.type).toBe(failover ? 'llm_end' : 'error')
        expect(world.byo.requests).toEqual([])
      })
    }
  }
})

describe('a client that leaves', () => {
  test('a client that leaves ends the call to the own channel', async () => {
    const tenant = await world.tenant()
    world.byo.reply({ text: 'never', holdHeaders: new Promise(() => {}) })
    const stream = await tenant.open()
    await world.byo.nextRequest('/chat/completions')
    stream.abort()
    await world.byo.aborted()
    expect(world.asked(world.platform)).toEqual([])
    expect((await tenant.history()).count).toBe(0)
  })

  test('a client that leaves ends the wait between two tries, and frees the session', async () => {
    await using app = await startApp({
      upstream: world.platform.baseUrl,
      clock: systemClock(),
      env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
    })
    const { headers } = await app.key()
    const body = JSON.stringify({ base_url: world.byo.baseUrl, api_key: BYO_KEY })
    await fetch(`${app.url}/v1/provider`, { method: 'PUT', headers, body })
    const turn = () => postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi' } })
    world.byo.fault(503, { retryAfter: '5' })
    const stream = await turn()
    await world.byo.nextRequest('/chat/completions')
    stream.abort()
    // It would stand in the queue of its session for 5 s if the first were still waiting.
    const events = await (await turn()).all()
    expect(events.at(-1)?.data.type).toBe('llm_end')
    expect(world.asked(world.byo)).toHaveLength(2)
    expect(world.asked(world.platform)).toEqual([])
  }, 4_000)
})
