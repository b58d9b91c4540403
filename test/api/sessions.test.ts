import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
  key = await app.key()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

interface Row {
  id: string
  turn_count: number
  first_at: string
  last_at: string
  app_id: string | null
  device_id: string | null
}

async function say(text: string, session: string, by: TestKey = key) {
  const body = JSON.stringify({ text, session_id: session })
  const init = { method: 'POST', headers: by.headers, body }
  expect(await (await fetch(`${app.url}/v1/agent`, init)).text()).toContain('llm_end')
}
async function list(query = '', by: TestKey = key): Promise<Row[]> {
  const answer = await fetch(`${app.url}/v1/sessions${query}`, { headers: by.headers })
  return ((await answer.json()) as { sessions: Row[] }).sessions
}
const history = async (id: string, by: TestKey = key) =>
  (
    await fetch(`${app.url}/v1/sessions/${encodeURIComponent(id)}/history`, { headers: by.headers })
  ).json()
const remove = (id: string, by: TestKey = key) =>
  fetch(`${app.url}/v1/sessions/${encodeURIComponent(id)}`, {
    method: 'DELETE',
    headers: by.headers,
  })

describe('the session index', () => {
  test('the session list counts turns and shows first and last use, newest first', async () => {
    const start = clock.iso()
    await say('one', 'index-a')
    clock.advance(1000)
    await say('two', 'index-b')
    clock.advance(1000)
    await say('three', 'index-a')
    const [first, second] = await list()
    expect(first).toEqual({
      id: 'index-a',
      turn_count: 2,
      first_at: start,
      last_at: clock.iso(),
      app_id: null,
      device_id: null,
    })
    expect(second?.id).toBe('index-b')
  })

  test('the session list shows which app and device spoke last', async () => {
    const byApp = await app.key('a@example.com', { appId: 'app-1' })
    const byDevice = await app.key('a@example.com', { appId: 'app-1', deviceId: 'device-1' })
    clock.advance(1)
    await say('hi', 'index-c', byApp)
    expect((await list())[0]).toMatchObject({ app_id: 'app-1', device_id: null })
    clock.advance(1)
    await say('hi', 'index-c', byDevice)
    expect((await list())[0]).toMatchObject({ app_id: 'app-1', device_id: 'device-1' })
    clock.advance(1)
    await say('hi', 'index-c')
    expect((await list())[0]).toMatchObject({ app_id: null, device_id: null })
  })

  test('the session list has a limit, with its default for any other value', async () => {
    const many = await app.key('many@example.com')
    const at = clock.iso()
    await app.db.batch(
      Array.from({ length: 600 }, (_, i) => ({
        sql: `INSERT INTO session (tenant_id, id, turn_count, first_at, last_at)
          VALUES (?, ?, 1, ?, ?)`,
        args: [many.tenantId, `s${i}`, at, at],
      })),
    )
    const table: [string, number][] = [
      ['', 100],
      ['?limit=7', 7],
      ['?limit=500', 500],
      ['?limit=501', 500],
      ['?limit=99999999999999', 500],
      ['?limit=9e2', 100],
      ['?limit=0', 100],
      ['?limit=-3', 100],
      ['?limit=1.5', 100],
      ['?limit=abc', 100],
      ['?limit=', 100],
    ]
    for (const [query, count] of table) expect(await list(query, many)).toHaveLength(count)
  })

  test('the session list takes since, inclusive, as text', async () => {
    const other = await app.key('since@example.com')
    await say('old', 'old', other)
    clock.advance(60_000)
    const since = clock.iso()
    await say('new', 'new', other)
    const ids = async (text: string) =>
      (await list(`?since=${encodeURIComponent(text)}`, other)).map(({ id }) => id)
    expect(await ids(since)).toEqual(['new'])
    expect(await ids(`${since}x`)).toEqual([])
    expect(await ids('2000')).toEqual(['new', 'old'])
  })

  test('the session list is for general keys only', async () => {
    for (const scope of [{ appId: 'x' }, { deviceId: 'y' }]) {
      const limited = await app.key('a@example.com', scope)
      const answer = await fetch(`${app.url}/v1/sessions`, { headers: limited.headers })
      expect(answer.status).toBe(403)
      expect((await remove('any', limited)).status).toBe(403)
      expect(await history('nothing-yet', limited)).toEqual({ messages: [], summary: '', count: 0 })
    }
  })
})

describe('deleting a session', () => {
  test('deleting a session clears memory and list, and its name can be used again', async () => {
    await say('remember me', 'gone')
    for (let i = 0; i < 2; i++) {
      const answer = await remove('gone')
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({ id: 'gone', deleted: true })
    }
    expect(await history('gone')).toEqual({ messages: [], summary: '', count: 0 })
    expect((await list()).map(({ id }) => id)).not.toContain('gone')
    await say('again', 'gone')
    expect((await list()).find(({ id }) => id === 'gone')?.turn_count).toBe(1)
    expect((await history('gone')).count).toBe(2)
  })

  test('deleting a session of another tenant succeeds and deletes nothing', async () => {
    await say('mine', 'shared-name')
    const other = await app.key('b@example.com')
    expect((await remove('shared-name', other)).status).toBe(200)
    expect((await history('shared-name')).count).toBe(2)
  })

  test('deleting a session works for a name that UTF-8 cannot hold', async () => {
    for (const text of ['first secret', 'second secret']) await say(text, 'lone \ud800')
    expect((await history('lone \ufffd')).count).toBe(4)
    expect((await remove('lone \ufffd')).status).toBe(200)
    upstream.reset()
    await say('anew \udc00', 'lone \ud800')
    const told = JSON.stringify(upstream.requests[0]?.body.messages)
    expect(told).not.toContain('secret')
    expect(told).toContain('anew \ufffd')
  })

  test('a session may have any name', async () => {
    for (const name of ['名 字', 'a/b', 'x?y#z', '...', '%2e', "'; DROP TABLE turn; --"]) {
      await say('hi', name)
      expect((await history(name)).count).toBe(2)
      expect(await (await remove(name)).json()).toEqual({ id: name, deleted: true })
      expect((await history(name)).count).toBe(0)
    }
  })
})
