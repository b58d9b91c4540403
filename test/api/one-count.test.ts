import { afterAll, beforeAll, expect, test } from 'bun:test'
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

interface Usage {
  total: number
  tokens: { total: { input: number; output: number } }
  by_source: { source: string; calls: number; input_tokens: number; output_tokens: number }[]
}
interface Logs {
  logs: { endpoint: string; status: number; key_id: string | null; [more: string]: unknown }[]
}

test('turns are counted by what they come from, and a visitor has a row in the log', async () => {
  const { call, share, appId, email, headers, tenantId } = await startShare(app)
  visitors += 1
  const ask = visitor(app, `203.0.113.${visitors}`)
  await (await ask(share.token, { text: '您好吗', session_id: SESSION })).all()
  await ask('x'.repeat(43), { text: 'x' })
  await fetch(`${app.url}/s/${share.token}`)
  await say(headers, 'console')
  const general = await app.key(email)
  await say(general.headers, 'api')
  const { device } = await deviceClient(app, general).pair()
  await say(device.headers, 'device')
  const usage = (await call<Usage>('GET', '/console/usage')).json()
  expect(usage.by_source.map(({ source, calls }) => [source, calls])).toEqual([
    ['api', expect.any(Number)],
    ['console', 1],
    ['device', 1],
    ['share', 1],
  ])
  const sum = (field: 'input_tokens' | 'output_tokens') =>
    usage.by_source.reduce((all, row) => all + row[field], 0)
  const { input, output } = usage.tokens.total
  expect([sum('input_tokens'), sum('output_tokens')]).toEqual([input, output])
  for (const row of usage.by_source) expect(row.output_tokens).toBeGreaterThan(0)
  const { logs } = (await call<Logs>('GET', '/console/logs')).json()
  const visits = logs.filter(({ endpoint }) => endpoint === '/s')
  expect(visits).toEqual([
    expect.objectContaining({
      ...{ status: 200, key_id: null, app_id: appId, text_chars: 3, channel: 'platform' },
      ...{ first_ms: expect.any(Number), total_ms: expect.any(Number) },
    }),
  ])
  const stored = await app.db.all({
    sql: 'SELECT * FROM request_log WHERE tenant_id = ?',
    args: [tenantId],
  })
  expect(JSON.stringify(stored)).not.toMatch(/203\.0\.113|您好吗/)
  expect(JSON.stringify(stored)).not.toContain(share.token)
})

test('thumbs of keys are in the log', async () => {
  const { call, email } = await startTeam(app)
  const general = await app.key(email)
  await say(general.headers, 's')
  await thumb(caller(app.url, general.headers), '/v1', 's', 1, { rating: 1 })
  const { logs } = (await call<Logs>('GET', '/console/logs')).json()
  expect(logs.map(({ endpoint }) => endpoint).sort()).toEqual(['/v1/agent', '/v1/feedback'])
})
