import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { requestCode, verifyCode } from '../support/login.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
let shiftMs = 0
/** Time that has passed in no time; setting the clock does not move it. */
let skippedMs = 0
let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  const now = () => Date.now() + shiftMs
  const iso = () => new Date(now()).toISOString()
  const clock = { ...systemClock(), now, iso, steady: () => performance.now() + skippedMs }
  upstream = await startUpstream()
  app = await startApp({ clock, upstream: upstream.baseUrl })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const JUMPS = [0, YEAR_MS, -YEAR_MS, HOUR_MS, -HOUR_MS, 0]

test('turns keep their order when the clock jumps between them', async () => {
  const { headers } = await app.key()
  for (const [turn, jump] of JUMPS.entries()) {
    shiftMs = jump
    const body = { text: `turn ${turn}`, session_id: 's', kb: false }
    const events = await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
    expect(events.at(-1)?.data.type).toBe('llm_end')
  }
  const answer = await fetch(`${app.url}/v1/sessions/s/history`, { headers })
  const { messages } = (await answer.json()) as { messages: { role: string; content: string }[] }
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  expect(said).toEqual(JUMPS.map((_, turn) => `turn ${turn}`))
  const list = await fetch(`${app.url}/v1/sessions`, { headers })
  const { sessions } = (await list.json()) as { sessions: { turn_count: number }[] }
  expect(sessions[0]?.turn_count).toBe(JUMPS.length)
})

test('a clock set back signs nobody out, and a far future session is refused', async () => {
  shiftMs = 0
  const { headers } = await app.person('c@example.com')
  const status = async () => (await fetch(`${app.url}/auth/me`, { headers })).status
  for (const [back, answer] of [
    [0, 200],
    [HOUR_MS, 200],
    [23 * HOUR_MS, 200],
    [25 * HOUR_MS, 401],
    [YEAR_MS, 401],
    [0, 200],
  ] as const) {
    shiftMs = -back
    expect(await status()).toBe(answer)
  }
})

test('a login code lives as long when the clock is set', async () => {
  for (const jump of [HOUR_MS, -HOUR_MS]) {
    shiftMs = 0
    const code = await requestCode(app, 'd@example.com')
    shiftMs = jump
    expect((await verifyCode(app, 'd@example.com', code)).status).toBe(200)
  }
})

test('setting the clock does not move the rate window of a key', async () => {
  shiftMs = 0
  const { headers } = await app.key('b@example.com', { rateLimit: 2 })
  const ask = async () => (await fetch(`${app.url}/v1/sessions`, { headers })).status
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  for (const jump of [-HOUR_MS, HOUR_MS]) {
    shiftMs = jump
    const refused = await fetch(`${app.url}/v1/sessions`, { headers })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  }
})

test('a silent stream is kept alive when the clock is set', async () => {
  const { headers } = await app.key('e@example.com')
  const answer = Promise.withResolvers<void>()
  upstream.reply({ text: 'at last', hold: { after: 0, until: answer.promise } })
  shiftMs = 0
  const body = { text: 'hi', kb: false }
  const stream = await postSse(`${app.url}/v1/agent`, { headers, body })
  shiftMs = -HOUR_MS
  skippedMs += 10_000
  const reading = stream.all()
  while (stream.comments.length === 0) await Bun.sleep(20)
  answer.resolve()
  expect((await reading).at(-1)?.data.type).toBe('llm_end')
})

test('a jump of the clock does not change durations in the request log', async () => {
  const { headers } = await app.key('f@example.com')
  const begun = Promise.withResolvers<void>()
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('{"q":'))
      await begun.promise
      controller.enqueue(new TextEncoder().encode('"x"}'))
      controller.close()
    },
  })
  shiftMs = 0
  const answer = fetch(`${app.url}/v1/kb/search`, { method: 'POST', headers, body })
  const { headers: cookie } = await app.person('f@example.com')
  const calls = async () => {
    const usage = await fetch(`${app.url}/console/usage`, { headers: cookie })
    return ((await usage.json()) as { total: number }).total
  }
  while ((await calls()) === 0) await Bun.sleep(2)
  shiftMs = HOUR_MS
  begun.resolve()
  expect((await answer).status).toBe(200)
  const logs = await fetch(`${app.url}/v1/logs`, { headers })
  const [row] = ((await logs.json()) as { logs: { latency_ms: number }[] }).logs
  expect(row?.latency_ms).toBeWithin(0, HOUR_MS)
})
