import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const ask = (body: unknown, by: TestKey) =>
  fetch(`${app.url}/v1/agent`, {
    method: 'POST',
    headers: by.headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }).then((response) => response.text())

async function rows(by: TestKey) {
  await app.flush()
  return app.db.all<Record<string, unknown>>({
    sql: 'SELECT * FROM request_log WHERE tenant_id = ? ORDER BY id',
    args: [by.tenantId],
  })
}

async function calls(by: TestKey) {
  await app.flush()
  return app.db.all<{ day: number; app_id: string; calls: number }>({
    sql: 'SELECT day, app_id, calls FROM usage_day WHERE tenant_id = ? ORDER BY day, app_id',
    args: [by.tenantId],
  })
}

describe('the request log', () => {
  test('each agent call has a log row of metadata', async () => {
    key = await app.key('log@example.com')
    await ask({ text: '你好😀', session_id: 's1' }, key)
    const [row, ...more] = await rows(key)
    expect(more).toEqual([])
    expect(row).toMatchObject({
      tenant_id: key.tenantId,
      ts: clock.now(),
      app_id: null,
      device_id: null,
      endpoint: '/v1/agent',
      status: 200,
      latency_ms: 0,
      session_id: 's1',
      text_chars: 3,
      error_class: null,
      channel: 'platform',
    })
    expect(JSON.stringify(row)).not.toContain('你好')
  })

  test.each([
    ['after', false],
    ['before', true],
  ])('the log row of a stream written %s its end has its times', async (when, isEarly) => {
    key = await app.key(`times-${when}@example.com`)
    const gate = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['one', 'two'], hold: { after: 1, until: gate.promise } })
    const answer = await fetch(`${app.url}/v1/agent`, {
      ...{ method: 'POST', headers: key.headers, body: '{"text":"hi"}' },
    })
    const reader = answer.body?.getReader()
    let told = ''
    while (!told.includes('one')) told += new TextDecoder().decode((await reader?.read())?.value)
    // To list the rows writes those that wait.
    while (isEarly && (await rows(key)).length === 0);
    clock.advance(500)
    gate.resolve()
    while (!(await reader?.read())?.done);
    expect(await rows(key)).toMatchObject([
      { key_id: key.id, latency_ms: 0, first_ms: 0, total_ms: 500 },
    ])
  })

  test('the log row of an error inside the stream keeps status 200', async () => {
    key = await app.key('instream@example.com')
    upstream.fault(400)
    expect(await ask({ text: 'hi' }, key)).toContain('event: error')
    expect((await rows(key))[0]).toMatchObject({ status: 200, error_class: null })
  })

  test('the log row of a turn that finds no free stream names the configured channel', async () => {
    const env = { MB_MAX_STREAMS: '1' }
    await using full = await startApp({ upstream: upstream.baseUrl, env })
    const { headers, tenantId } = await full.key()
    const post = () =>
      fetch(`${full.url}/v1/agent`, { method: 'POST', headers, body: '{"text":"hi"}' })
    const gate = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: gate.promise } })
    const first = await post()
    await upstream.nextRequest('/chat/completions')
    expect((await post()).status).toBe(503)
    gate.resolve()
    await first.text()
    await full.flush()
    const sql = 'SELECT status, channel FROM request_log WHERE tenant_id = ? ORDER BY status'
    expect(await full.db.all<object>({ sql, args: [tenantId] })).toEqual([
      { status: 200, channel: 'platform' },
      { status: 503, channel: 'platform' },
    ])
  })

  test('refused calls have log rows with a class, but for 401', async () => {
    key = await app.key('refused@example.com', { rateLimit: 2, appId: 'app-7' })
    await ask('{bad', key)
    await ask({ text: '' }, key)
    await ask({ text: 'third' }, key)
    await fetch(`${app.url}/v1/agent`, { method: 'POST', body: '{}' })
    const told = (await rows(key)).map(({ status, error_class, app_id }) => [
      status,
      error_class,
      app_id,
    ])
    expect(told).toEqual([
      [400, 'bad_request', 'app-7'],
      [400, 'bad_request', 'app-7'],
      [429, 'rate_limited', 'app-7'],
    ])
  })

  test('a deletion without a document id has a log row', async () => {
    key = await app.key('no-id@example.com')
    for (const path of ['/v1/kb/docs/', '/v1/kb/docs']) {
      await fetch(app.url + path, { method: 'DELETE', headers: key.headers })
    }
    const row = { endpoint: '/v1/kb/docs/:id', status: 400, error_class: 'bad_request' }
    expect(await rows(key)).toMatchObject([row, row])
  })

  test('routes without a label have no log rows', async () => {
    key = await app.key('unlabelled@example.com')
    await fetch(`${app.url}/v1/sessions`, { headers: key.headers })
    await fetch(`${app.url}/v1/sessions/x/history`, { headers: key.headers })
    expect(await rows(key)).toEqual([])
  })

  test('the log row of a device key names its app and device', async () => {
    key = await app.key('device@example.com', { appId: 'app-8', deviceId: 'device-8' })
    await ask({ text: 'hi' }, key)
    expect((await rows(key))[0]).toMatchObject({ app_id: 'app-8', device_id: 'device-8' })
  })

  test('log rows older than seven days are removed', async () => {
    key = await app.key('old@example.com')
    await ask({ text: 'old' }, key)
    await app.flush()
    clock.advance(7 * DAY)
    await ask({ text: 'new' }, key)
    await app.prune()
    expect(await rows(key)).toHaveLength(2)
    clock.advance(1)
    await app.prune()
    expect(await rows(key)).toHaveLength(1)
  })

  test('no log row is removed while the clock is wrong for a moment', async () => {
    const wrong = fakeClock()
    await using server = await startApp({ clock: wrong })
    const { tenantId, headers } = await server.key()
    const count = async () => {
      await server.prune()
      const sql = 'SELECT id FROM request_log WHERE tenant_id = ?'
      return (await server.db.all({ sql, args: [tenantId] })).length
    }
    await fetch(`${server.url}/v1/kb/docs`, { headers })
    while ((await count()) === 0) await server.flush()
    wrong.set(8 * DAY)
    expect(await count()).toBe(1)
    wrong.advance(29 * MINUTE)
    expect(await count()).toBe(1)
    wrong.set(-8 * DAY)
    for (let looks = 0; looks < 6; looks++) {
      wrong.advance(10 * MINUTE)
      expect(await count()).toBe(1)
    }
    // Whatever the jump, a time that goes on is the time.
    wrong.set(8 * DAY)
    expect(await count()).toBe(1)
    wrong.advance(30 * MINUTE)
    expect(await count()).toBe(0)
  })
})

describe('usage', () => {
  test('usage counts calls that were not refused by 429, by app and day', async () => {
    key = await app.key('usage@example.com')
    const byApp = await app.key('usage@example.com', { appId: 'app-9', rateLimit: 1 })
    const today = Math.floor(clock.now() / DAY)
    await ask({ text: 'hi' }, key)
    await ask('{bad', key)
    await fetch(`${app.url}/v1/sessions`, { headers: key.headers })
    await fetch(`${app.url}/v1/sessions`, { headers: byApp.headers })
    await fetch(`${app.url}/v1/sessions`, { headers: byApp.headers })
    expect(await calls(key)).toEqual([
      { day: today, app_id: '', calls: 3 },
      { day: today, app_id: 'app-9', calls: 1 },
    ])
    clock.advance(DAY)
    await ask({ text: 'next day' }, key)
    expect(await calls(key)).toContainEqual({ day: today + 1, app_id: '', calls: 1 })
  })
})
