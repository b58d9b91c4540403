import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LogsResponse } from '../../src/features/logs/model.ts'
import { createLogs } from '../../src/features/logs/service.ts'
import { createLogStore, type LogRow } from '../../src/features/logs/store.ts'
import { type Call, caller, SURFACES, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'

const START = Date.UTC(2026, 10, 20, 8)
const MINUTE = 60_000
const clock = fakeClock({ start: START + 12 * 60 * MINUTE })
const ROWS = 120
let app: TestApp
const logStore = () =>
  createLogStore(app.db, { all: (_tenantId, statement) => app.db.all(statement) })
let tenantId: string
let rows: LogRow[]

/** Rows that differ in everything that can be filtered by, oldest first. */
const made = (tenant: string): LogRow[] =>
  Array.from({ length: ROWS }, (_, i) => {
    const status = [200, 200, 400, 404, 429, 502][i % 6] as number
    return {
      id: `${tenant.slice(0, 8)}-${String(i).padStart(4, '0')}`,
      tenantId: tenant,
      ts: START + Math.floor(i / 2) * MINUTE,
      appId: i % 3 === 0 ? 'app' : null,
      deviceId: i % 4 === 0 ? 'device' : null,
      endpoint: i % 5 === 0 ? '/v1/tts' : '/v1/agent',
      status,
      latencyMs: i % 11 === 0 ? null : (i * 37) % 101,
      sessionId: i % 5 === 0 ? null : `s${i % 7}`,
      textChars: i,
      errorClass: status >= 400 ? `class${status}` : null,
      channel: i % 5 === 0 ? null : 'platform',
      keyId: `key${i % 2}`,
    }
  })

beforeAll(async () => {
  app = await startApp({ clock })
  ;({ tenantId } = await app.key('a@example.com'))
  const other = await app.key('b@example.com')
  rows = made(tenantId)
  const all = [...rows, ...made(other.tenantId)]
  const times = { firstMs: null, totalMs: null, isTaken: false }
  await logStore().write(all.map((row) => ({ ...row, ...times })))
})
afterAll(() => app[Symbol.asyncDispose]())

const iso = (ms: number) => new Date(ms).toISOString()

/** The summary of the rows that `match`, worked out the plain way. */
function expected(match: (row: LogRow) => boolean, limit = 100): LogsResponse {
  const found = rows.filter(match).toReversed()
  const latencies = found
    .flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
    .sort((a, b) => a - b)
  const percentile = (p: number) => latencies[Math.floor((latencies.length - 1) * p)] ?? null
  return {
    logs: found.slice(0, limit).map((row) => ({
      id: row.id,
      app_id: row.appId,
      device_id: row.deviceId,
      endpoint: row.endpoint,
      status: row.status,
      latency_ms: row.latencyMs,
      session_id: row.sessionId,
      text_chars: row.textChars,
      error_class: row.errorClass,
      channel: row.channel,
      key_id: row.keyId,
      first_ms: null,
      total_ms: null,
      ts: iso(row.ts),
    })),
    summary: {
      count: found.length,
      err_count: found.filter(({ status }) => status >= 400).length,
      p50_ms: percentile(0.5),
      p95_ms: percentile(0.95),
    },
  }
}

const from = START + 10 * MINUTE
const to = START + 20 * MINUTE
const FILTERS: readonly (readonly [string, (row: LogRow) => boolean])[] = [
  ['', () => true],
  ['endpoint=/v1/tts', (row) => row.endpoint === '/v1/tts'],
  ['status=429', (row) => row.status === 429],
  ['status=4xx', (row) => row.status >= 400 && row.status < 500],
  ['status=5XX', (row) => row.status >= 500],
  ['status=2xx', (row) => row.status === 200],
  ['app_id=app', (row) => row.appId === 'app'],
  ['device_id=device', (row) => row.deviceId === 'device'],
  ['key_id=key1', (row) => row.keyId === 'key1'],
  ['session_id=s3', (row) => row.sessionId === 's3'],
  ['error_class=class404', (row) => row.errorClass === 'class404'],
  [`since=${iso(from)}`, (row) => row.ts >= from],
  [`until=${iso(to)}`, (row) => row.ts <= to],
  [`since=${iso(from)}&until=${iso(from)}`, (row) => row.ts === from],
  [`since=${iso(to)}&until=${iso(from)}`, () => false],
  ['since=2026-11-20', () => true],
  ['until=2026-11-20', () => true],
  ['until=2026-11-19', () => false],
  ['since=2026-11-20T08:10:00', (row) => row.ts >= from],
  ['since=2026-11-20T08:10Z', (row) => row.ts >= from],
  ['since=2026-11-20T16:10:00%2B08:00', (row) => row.ts >= from],
  ['since=2026-11-20T16:10:00.000000%2B0800', (row) => row.ts >= from],
  ['since=2026-11-20T16:10:00+08:00', (row) => row.ts >= from],
  [
    'status=4xx&endpoint=/v1/agent&app_id=app',
    (row) =>
      row.status >= 400 && row.status < 500 && row.endpoint === '/v1/agent' && row.appId === 'app',
  ],
  ['endpoint=/v1/nothing', () => false],
  ["app_id=' OR 1=1 --", () => false],
  ['status=&app_id=&since=', () => true],
  ['unknown=1', () => true],
]

describe.each(SURFACES)('logs on %s', (surface) => {
  let me: Call
  beforeAll(async () => {
    me = await surfaceOf(app, surface, 'a@example.com')
  })
  const list = async (query: string) => (await me<LogsResponse>('GET', `/logs?${query}`)).json()

  test.each(FILTERS)('the log filter %s selects its rows and sums', async (query, match) => {
    expect(await list(query)).toEqual(expected(match))
  })

  test.each([
    ['limit=1', 1],
    ['limit=7', 7],
    ['limit=500', 120],
    ['limit=501', 120],
    ['limit=9999999', 120],
    ['limit=99999999999', 120],
    ['limit=0', 100],
    ['limit=-1', 100],
    ['limit=abc', 100],
    ['limit=1.5', 100],
    ['limit=', 100],
  ])('the log query %s returns %d rows and sums up all', async (query, count) => {
    expect(await list(query)).toEqual(expected(() => true, count))
  })

  test.each([
    ['status=abc'],
    ['status=99'],
    ['status=600'],
    ['status=6xx'],
    ['status=4x'],
    ['status=400,500'],
    ['since=yesterday'],
    ['since=2026-13-01'],
    ['since=2026-02-30T00:00:00Z'],
    ['until=1795000000000'],
    ['until=2026-11-20T25:00:00Z'],
    [`session_id=${'s'.repeat(201)}`],
    [`app_id=${'%F0%9F%A6%8A'.repeat(201)}`],
  ])('the log query %s is refused by name', async (query) => {
    const answer = await me('GET', `/logs?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(query.split('=')[0] as string)
    expect(answer.text).toMatch(/\p{Script=Han}/u)
  })
})

test('log summaries are the same for slices of any size', async () => {
  const buffer = { add: () => {}, flush: async () => {} }
  const filter = {
    endpoint: '/v1/agent',
    statusFrom: 0,
    statusTo: 999,
    appId: null,
    deviceId: null,
    keyId: null,
    sessionId: null,
    errorClass: null,
    since: 0,
    until: Number.MAX_SAFE_INTEGER,
  }
  for (const sliceRowsMax of [1, 2, 3, 7, 59, 60, 119, 120, 121]) {
    const logs = createLogs({ store: logStore(), clock, days: () => 90, buffer, sliceRowsMax })
    const answer = await logs.list(tenantId, { filter, limit: 50 })
    expect(answer).toEqual(expected(({ endpoint }) => endpoint === '/v1/agent', 50))
  }
})

test('a request is in the log as soon as it is answered', async () => {
  const key = await app.key('fresh@example.com')
  const machine = caller(`${app.url}/v1`, key.headers)
  const person = caller(`${app.url}/console`, (await app.person('fresh@example.com')).headers)
  for (let count = 1; count <= 20; count++) {
    expect((await machine('POST', '/agent', { text: '' })).status).toBe(400)
    const { logs, summary } = (await person<LogsResponse>('GET', '/logs?limit=1')).json()
    expect(summary).toMatchObject({ count, err_count: count })
    expect(logs[0]).toMatchObject({
      endpoint: '/v1/agent',
      status: 400,
      error_class: 'bad_request',
    })
  }
  const seen = (await person<LogsResponse>('GET', '/logs')).json().logs
  const exact = `since=${seen[0]?.ts}&until=${seen[0]?.ts}`
  expect((await person<LogsResponse>('GET', `/logs?${exact}`)).json().logs).toContainEqual(
    seen[0] as LogsResponse['logs'][number],
  )
})
