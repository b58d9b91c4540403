import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Product, Program, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

const ROWS = 1_000_000
const RETENTION_MS = 7 * 86_400_000
const HOUR_MS = 3_600_000

/** The least that SQLite has to do for a summary: look at every row once. */
const ONE_PASS = 'SELECT count(*), sum(status >= 400), max(latency_ms) FROM request_log'

/** The request log of a tenant with a million rows, and whether its summary holds up others. */
export async function benchLogs(_: Upstream, prepared: Product, rounds: number): Promise<Row[]> {
  const db = new Database(join(prepared.dataDir, 'moonbase.db'))
  const now = Date.now()
  fill(db, now)
  const pass = db.query(ONE_PASS)
  await using product = await prepared.start()
  await read(product, '')
  let longest = 0
  const results = await alternate(rounds, {
    pass: async () => timed(async () => pass.get()),
    all: () => timed(() => read(product, '')),
    errors: () => timed(() => read(product, 'status=5xx&endpoint=/v1/agent')),
    hour: () => timed(() => read(product, `since=${new Date(now - HOUR_MS).toISOString()}`)),
    beside: async () => {
      const reading = read(product, '')
      let done = false
      void reading.then(() => {
        done = true
      })
      while (!done) longest = Math.max(longest, await timed(() => get(product, '/healthz')))
      return longest
    },
  })
  db.close()
  const reference = { name: 'one pass of SQLite', values: results.pass }
  const row = (name: 'all' | 'errors' | 'hour', measure: string): Row => {
    return { measure, unit: 'ms', product: results[name], reference, target: null }
  }
  return [
    row('all', `GET /v1/logs, ${ROWS} rows`),
    row('errors', 'GET /v1/logs with two filters'),
    row('hour', 'GET /v1/logs of the last hour'),
    {
      measure: 'GET /healthz beside a summary, at most',
      unit: 'ms',
      product: [longest],
      reference: { name: '', values: [] },
      target: null,
    },
  ]
}

/** Rows of every kind over the whole retention, in one transaction. */
function fill(db: Database, now: number): void {
  const tenant = db.query<{ id: string }, []>('SELECT id FROM tenant').get()?.id ?? ''
  const insert = db.query(`
    INSERT INTO request_log (tenant_id, ts, id, app_id, device_id, endpoint, status, latency_ms,
      session_id, text_chars, error_class, channel)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const endpoints = ['/v1/agent', '/v1/tts', '/v1/kb/search']
  db.transaction(() => {
    for (let i = 0; i < ROWS; i++) {
      const ts = now - RETENTION_MS + HOUR_MS + Math.floor((i * (RETENTION_MS - HOUR_MS)) / ROWS)
      const failed = i % 20 === 0
      insert.run(
        tenant,
        ts,
        Bun.randomUUIDv7(),
        i % 3 ? `app${i % 5}` : null,
        i % 17 ? null : `device${i % 50}`,
        endpoints[i % 3] ?? '',
        failed ? 502 : 200,
        Math.floor(Math.exp(1 + ((i * 7_919) % 1_000) / 143)),
        `s${i % 1_000}`,
        i % 500,
        failed ? 'upstream' : null,
        i % 3 ? null : 'platform',
      )
    }
  })()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

async function get({ url, headers }: Program, path: string): Promise<void> {
  const answer = await fetch(`${url}${path}`, { headers })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
}

const read = (product: Program, query: string) => get(product, `/v1/logs?${query}`)
