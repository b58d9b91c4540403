import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { signIn } from '../support/login.ts'
import { startNameServer } from '../support/name-server.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const ADDRESSES: Readonly<Record<string, string>> = {
  'models.example.com': '127.0.0.1',
  'pictures.example.com': '93.184.215.14',
  'inside.example.com': '10.0.0.7',
}

let upstream: Upstream
let names: Awaited<ReturnType<typeof startNameServer>>
let clock: FakeClock
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  names = await startNameServer((name) =>
    name.endsWith('.silent.example.com') ? 'silence' : (ADDRESSES[name] ?? null),
  )
  clock = fakeClock()
  app = await startApp({
    clock,
    nameServer: names.address,
    upstream: `http://localhost:${upstream.port}/v1`,
    env: { MB_ALLOW_PRIVATE_HOSTS: `models.example.com:${upstream.port}` },
  })
})
afterEach(() => {
  upstream.reset()
  names.asked.length = 0
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  await names[Symbol.asyncDispose]()
})

let sessions = 0
const ask = ({ headers }: TestKey, more: object = {}) =>
  postSse(`${app.url}/v1/agent`, {
    headers,
    body: { text: 'hi', session_id: `s${++sessions}`, ...more },
  })

async function provide({ headers }: TestKey, host: string) {
  const body = JSON.stringify({ base_url: `http://${host}:${upstream.port}/v1`, api_key: 'k' })
  const saved = await fetch(`${app.url}/v1/provider`, { method: 'PUT', headers, body })
  expect(saved.status).toBe(200)
}

test('host names that no server answers delay neither sign-in nor other turns', async () => {
  const [hostile, own, platform] = await Promise.all([
    app.key('hostile@example.com'),
    app.key('own@example.com'),
    app.key('platform@example.com'),
  ])
  await provide(own, 'models.example.com')
  const opened = await Promise.all(
    [0, 1, 2, 3].map((turn) => {
      upstream.reply({
        toolCalls: [0, 1, 2, 3, 4, 5].map((call) => ({
          name: 'fetch_url',
          arguments: { url: `http://n${turn}-${call}.silent.example.com/` },
        })),
      })
      return ask(hostile)
    }),
  )
  await names.hasHeardOf(8)
  const { headers } = await signIn(app, 'person@example.com')
  expect((await fetch(`${app.url}/auth/me`, { headers })).status).toBe(200)
  for (const [key, channel] of [
    [own, 'byo'],
    [platform, 'platform'],
  ] as const) {
    const events = await (await ask(key)).all()
    expect(events.find(({ event }) => event === 'stats')?.data).toMatchObject({ channel })
  }
  // The other names of the tenant are still in line: eight of one tenant are asked at a time.
  const silent = names.asked.filter((name) => name.endsWith('.silent.example.com'))
  expect(new Set(silent).size).toBe(8)
  for (const stream of opened) {
    expect(stream.events.some(({ event }) => event === 'tool_result')).toBe(false)
    stream.abort()
  }
})

test('a host name that failed is looked up again after thirty seconds', async () => {
  const key = await app.key('gone@example.com')
  await provide(key, 'gone.example.com')
  const probe = async () => {
    const init = { method: 'POST', headers: key.headers }
    return (await (await fetch(`${app.url}/v1/provider/test`, init)).json()).ok
  }
  // Queries that nobody answered in the test before are sent again meanwhile.
  const asked = () => names.asked.filter((name) => name === 'gone.example.com').length
  expect(await probe()).toBe(false)
  const once = asked()
  expect(once).toBeGreaterThan(0)
  clock.advance(29_999)
  expect(await probe()).toBe(false)
  expect(asked()).toBe(once)
  clock.advance(1)
  expect(await probe()).toBe(false)
  expect(asked()).toBe(2 * once)
})

test('an image link to an internal address is refused beside valid links', async () => {
  const key = await app.key()
  const status = async (...hosts: string[]) =>
    (await ask(key, { images: hosts.map((host) => `https://${host}/a.png`) })).status
  expect(await status('inside.example.com')).toBe(400)
  expect(await status('pictures.example.com', 'inside.example.com')).toBe(400)
  expect(await status('models.example.com')).toBe(400)
  expect(await status('pictures.example.com')).toBe(200)
  expect(await status('unknown.example.com')).toBe(200)
})
