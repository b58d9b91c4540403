import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import type { Run } from '../../src/features/runs/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { runOf, startRuns, type TestRuns } from '../support/runs.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { tempFolder } from '../support/temp.ts'
import { deliveriesOf, make, startSink, tell, tenantOf } from '../support/webhooks.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

/** Lets time pass, and deletes what is too old then. */
async function pass(ms: number): Promise<void> {
  on.clock.advance(ms)
  await on.app.prune()
}

test('an ended run is kept 90 days, one that waits longer, what was said for good', async () => {
  const call = await on.keyOf()
  const asked = async (more: object) =>
    (await call<Run>('POST', '/runs', { text: 'Hi', ...more })).json().id
  on.upstream.reply({ text: 'One.' })
  const old = await asked({ session_id: 'kept' })
  const far = await asked({ at: on.inMs(200 * DAY_MS) })
  await on.settled()
  await pass(DAY_MS)
  on.upstream.reply({ text: 'Two.' })
  const young = await asked({})
  await on.settled()

  await pass(89 * DAY_MS)
  expect((await runOf(call, old)).status).toBe('done')
  await pass(HOUR_MS)
  expect((await call('GET', `/runs/${old}`)).status).toBe(404)
  expect((await runOf(call, young)).status).toBe('done')
  expect((await runOf(call, far)).status).toBe('waiting')
  const talk = await call<{ turns: object[] }>('GET', '/sessions/kept/transcript')
  expect(talk.json().turns).toMatchObject([{ reply: 'One.' }])
})

test('a notice is kept 90 days, and the next one longer', async () => {
  const { email, call } = await startTeam(on.app)
  await call('PUT', '/console/settings', { reminders: true })
  const remind = async (text: string) => {
    const signedIn = caller(on.app.url, (await on.app.person(email)).headers)
    const args = JSON.stringify({ text, in_minutes: 1 })
    on.upstream.reply({ toolCalls: [{ name: 'set_reminder', arguments: args }] })
    on.upstream.reply({ text: 'ok' })
    await signedIn('POST', '/console/agent', { text: 'remind me', session_id: text })
    on.clock.advance(MINUTE_MS)
    await on.settled()
  }
  const texts = async () => {
    const signedIn = caller(on.app.url, (await on.app.person(email)).headers)
    const { notices } = (
      await signedIn<{ notices: { text: string }[] }>('GET', '/console/notices')
    ).json()
    return notices.map(({ text }) => text)
  }
  await remind('Water')
  await pass(DAY_MS)
  await remind('Milk')
  await pass(89 * DAY_MS - HOUR_MS)
  expect(await texts()).toEqual(['Milk', 'Water'])
  await pass(HOUR_MS)
  expect(await texts()).toEqual(['Milk'])
})

test('of each webhook the last fifty deliveries are kept', async () => {
  using sink = startSink()
  const { tenantId, call } = await tenantOf(on.app)
  const quiet = await make(call, sink.url)
  await tell(on.app, tenantId)
  const off = { name: 'n', url: sink.url, events: ['schedule.paused'], enabled: false }
  const busy = await make(call, sink.url)
  await call('PUT', `/webhooks/${quiet.id}`, off)
  for (let time = 0; time < 55; time++) await tell(on.app, tenantId)
  const kept = async (id: string) => {
    const sql = 'SELECT id FROM webhook_delivery WHERE webhook_id = ?'
    return (await on.app.db.all({ sql, args: [id] })).length
  }
  expect(sink.received).toHaveLength(56)
  expect([await kept(busy.id), await kept(quiet.id)]).toEqual([50, 1])
  expect(await deliveriesOf(call, busy.id)).toHaveLength(50)
})

test('a shorter MB_LOG_DAYS holds for requests, too, at once and after a restart', async () => {
  using folder = tempFolder()
  const clock = fakeClock({ start: Date.now(), repeats: false })
  const open = (env: Readonly<Record<string, string>>) =>
    startApp({ clock, dataDir: folder.path, env })
  type Open = Awaited<ReturnType<typeof open>>
  const count = async (app: Open, table: 'request_log' | 'audit') => {
    await app.flush()
    await app.prune()
    const rows = await app.db.all<{ n: number }>({
      sql: `SELECT count(*) AS n FROM ${table}`,
      args: [],
    })
    return Number(rows[0]?.n)
  }
  const operatorOf = async (app: Open): Promise<Call> =>
    caller(`${app.url}/console`, (await app.person('operator@example.com')).headers)
  {
    await using app = await open({})
    await app.operator()
    await caller(`${app.url}/v1`, (await app.key()).headers)('GET', '/kb/docs')
    await (await operatorOf(app))('PUT', '/settings', {})
    clock.advance(3 * DAY_MS)
    expect(await count(app, 'request_log')).toBeGreaterThan(0)
    await (await operatorOf(app))('PUT', '/system', { MB_LOG_DAYS: 2 })
    await caller(`${app.url}/v1`, (await app.key()).headers)('GET', '/kb/docs')
    // The line of the change itself, and the request of today.
    expect([await count(app, 'audit'), await count(app, 'request_log')]).toEqual([1, 1])
  }
  {
    await using app = await open({})
    clock.advance(DAY_MS)
    expect(await count(app, 'request_log')).toBe(1)
    clock.advance(DAY_MS + HOUR_MS)
    expect([await count(app, 'audit'), await count(app, 'request_log')]).toEqual([0, 0])
    await caller(`${app.url}/v1`, (await app.key()).headers)('GET', '/kb/docs')
    await app.flush()
  }
  // The environment wins over what the console has set.
  await using app = await open({ MB_LOG_DAYS: '30' })
  clock.advance(3 * DAY_MS)
  expect(await count(app, 'request_log')).toBe(1)
  clock.advance(5 * DAY_MS)
  expect(await count(app, 'request_log')).toBe(0)
})

test('MB_TRANSCRIPT switched off in the console takes what was folded, each time', async () => {
  await using app = await startApp({ upstream: on.upstream.baseUrl })
  const operator = caller(`${app.url}/console`, (await app.operator()).headers)
  const { headers } = await app.key()
  const call = caller(`${app.url}/v1`, headers)
  const tell = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const body = { text: 'Hi', session_id: 's' }
      await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
    }
    await app.jobs.idle()
  }
  const kept = async () =>
    (await call<{ turns: object[] }>('GET', '/sessions/s/transcript?limit=100')).json().turns.length
  await tell(21)
  expect(await kept()).toBe(21)
  await operator('PUT', '/system', { MB_TRANSCRIPT: false })
  await app.prune()
  expect(await kept()).toBe(10)
  await operator('PUT', '/system', { MB_TRANSCRIPT: true })
  await tell(11)
  expect(await kept()).toBe(21)
  await operator('PUT', '/system', { MB_TRANSCRIPT: false })
  await app.prune()
  expect(await kept()).toBe(10)
})

test('another MB_FILE_HOURS holds for a file from its next use on', async () => {
  const clock = fakeClock()
  await using app = await startApp({ clock })
  const operator = caller(`${app.url}/console`, (await app.operator()).headers)
  const { headers } = await app.key()
  const files = filesClient(() => app.url)
  const [old, used] = [
    await files.ingest(headers, 'Tea at five.'),
    await files.ingest(headers, 'Milk at six.'),
  ]
  await operator('PUT', '/system', { MB_FILE_HOURS: 1 })
  const young = await files.ingest(headers, 'Bread at seven.')
  const body = { text: 'When is milk?', session_id: 's', files: [used.id] }
  await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
  clock.advance(2 * HOUR_MS)
  await app.prune()
  const statusOf = async (id: string) =>
    (await fetch(`${app.url}/v1/files/${id}`, { headers })).status
  expect(await Promise.all([old, used, young].map(({ id }) => statusOf(id)))).toEqual([
    200, 404, 404,
  ])
})
