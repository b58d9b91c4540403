import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/core/clock.ts'
import { parseLogQuery } from '../../src/features/logs/query.ts'
import { createLogs } from '../../src/features/logs/service.ts'
import { createLogStore, type LogRow, type LogStore } from '../../src/features/logs/store.ts'
import { sql } from '../../src/storage/db.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'

const DAY = Date.UTC(2026, 10, 16)
const HOUR = 60 * 60_000
const ROWS = 240
const clock = fakeClock({ start: DAY + 5 * DAY_MS })
let app: TestApp
let tenantId: string
let rows: LogRow[]
let store: LogStore
/** The spans of rows that were read to be counted. */
let counted: { since: number; until: number }[]

/** Rows of four days, half an hour apart and a bit, oldest first. */
const made = (tenant: string): LogRow[] =>
  Array.from({ length: ROWS }, (_, i) => ({
    id: `${tenant.slice(0, 8)}-${String(i).padStart(4, '0')}`,
    tenantId: tenant,
    ts: DAY + Math.floor((i * 4 * DAY_MS) / ROWS),
    appId: null,
    deviceId: null,
    endpoint: '/v1/agent',
    status: [200, 200, 200, 404, 429, 503][i % 6] as number,
    latencyMs: i % 7 === 0 ? null : (i * 53) % 97,
    sessionId: i % 40 === 0 ? 'seldom' : `s${i}`,
    textChars: 1,
    errorClass: null,
    channel: null,
    keyId: null,
  }))

beforeAll(async () => {
  app = await startApp({ clock })
  ;({ tenantId } = await app.key('a@example.com'))
  const other = await app.key('b@example.com')
  rows = made(tenantId)
  const plain = createLogStore(app.db, { all: (_tenantId, statement) => app.db.all(statement) })
  store = {
    ...plain,
    latencies(tenant, filter) {
      counted.push({ since: filter.since, until: filter.until })
      return plain.latencies(tenant, filter)
    },
  }
  const times = { firstMs: null, totalMs: null, isTaken: false }
  await store.write([...rows, ...made(other.tenantId)].map((row) => ({ ...row, ...times })))
})
afterAll(() => app[Symbol.asyncDispose]())

const logsOf = () => {
  counted = []
  return createLogs({
    store,
    clock,
    days: () => 90,
    buffer: { add() {}, async flush() {} },
    sliceRowsMax: 10,
  })
}
const read = (query: string) =>
  logsOf().list(tenantId, parseLogQuery(new URLSearchParams(`limit=30&${query}`)))

function expected(match: (row: LogRow) => boolean) {
  const found = rows.filter(match).toReversed()
  const sorted = found.flatMap((row) => row.latencyMs ?? []).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? null
  const err_count = found.filter(({ status }) => status >= 400).length
  const summary = { count: found.length, err_count, p50_ms: at(0.5), p95_ms: at(0.95) }
  return { ids: found.slice(0, 30).map(({ id }) => id), summary }
}

const iso = (ms: number) => new Date(ms).toISOString()
const SINCE = DAY + 7 * HOUR
const UNTIL = DAY + 2 * DAY_MS + 5 * HOUR
type Match = (row: LogRow) => boolean
const QUERIES: [string, Match][] = [
  ['', () => true],
  ['status=200', ({ status }) => status === 200],
  ['status=4xx', ({ status }) => status >= 400 && status < 500],
  ['status=5xx', ({ status }) => status >= 500],
  ['status=418', () => false],
  ['session_id=seldom', ({ sessionId }) => sessionId === 'seldom'],
  [
    'session_id=seldom&status=503',
    ({ sessionId, status }) => sessionId === 'seldom' && status === 503,
  ],
]
const SPANS: [string, number, number][] = [
  ['all days', 0, Number.MAX_SAFE_INTEGER],
  ['a part of the first and the last day', SINCE, UNTIL],
  ['a part of one day', SINCE, SINCE + 3 * HOUR],
  ['one whole day', DAY + DAY_MS, DAY + 2 * DAY_MS - 1],
  ['a day and a millisecond', DAY + DAY_MS, DAY + 2 * DAY_MS],
  ['no time', UNTIL, SINCE],
]

for (const [span, since, until] of SPANS) {
  test.each(QUERIES)(`the log of ${span} by "%s" has its rows and sums`, async (query, match) => {
    const times = `since=${iso(since)}${until > 1e15 ? '' : `&until=${iso(until)}`}`
    const { logs, summary } = await read(`${query}&${times}`)
    const wanted = expected((row) => match(row) && row.ts >= since && row.ts <= until)
    expect({ ids: logs.map(({ id }) => id), summary }).toEqual(wanted)
  })
}

test('rows of whole days are not read for a summary', async () => {
  await read('')
  expect(counted.filter(({ since }) => since < DAY + 5 * DAY_MS)).toEqual([])
  await read(`status=2xx&since=${iso(SINCE)}&until=${iso(UNTIL)}`)
  const isInner = (at: number) => at >= DAY + DAY_MS && at < DAY + 2 * DAY_MS
  expect(counted.length).toBeGreaterThan(0)
  expect(counted.filter(({ since, until }) => isInner(since) || isInner(until))).toEqual([])
})

test('only the rows of a session are read for its summary', async () => {
  await read('session_id=seldom')
  expect(counted).toHaveLength(1)
})

test('a row that is stored twice counts once, and one that is deleted no more', async () => {
  const times = { firstMs: null, totalMs: null, isTaken: false }
  const again = { ...(rows[0] as LogRow), ...times, id: 'twice' }
  await store.write([again])
  await store.write([again])
  expect((await read('')).summary.count).toBe(ROWS + 1)
  await app.db.run(sql`DELETE FROM request_log WHERE tenant_id = ${tenantId} AND id = 'twice'`)
  expect((await read('')).summary.count).toBe(ROWS)
  const before = DAY + 1.5 * DAY_MS
  while ((await store.prune(before)) > 0);
  expect((await read('')).summary).toEqual(expected(({ ts }) => ts >= before).summary)
  while ((await store.prune(DAY + 9 * DAY_MS)) > 0);
  const left = sql`SELECT count(*) AS n FROM request_log_count WHERE tenant_id = ${tenantId}`
  expect(await app.db.get<{ n: number }>(left)).toEqual({ n: 0 })
})
