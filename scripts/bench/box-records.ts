import { DAY_MS } from '../../src/core/clock.ts'
import { newIdAt } from '../../src/core/crypto.ts'
import { type Db, type Statement, sql } from '../../src/storage/db.ts'
import { randomNumbers } from './talk-texts.ts'

/** Rows of one statement. */
const ROWS = 5_000
/** A day less than the server keeps, so that a kept box is not pruned while it is measured. */
const LOG_DAYS = 6
const OTHER_TENANTS = 2_000
const YEAR = 365
const APPS = 20
const KEYS = 50
const PEOPLE = 50
const CHANGES = 100_000
const DOCS = 10_000
const CITED_DAYS = 7

/**
 * What a year leaves beside conversations: the request log of a week, changes in the audit, sums of
 * use, documents with their citations, and other tenants.
 */
export async function insertRecords(db: Db, tenantId: string, logs: number): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS)
  await store(db, OTHER_TENANTS, (at) => [`other-${at}`], insertTenants)
  const logged = logRow(logs)
  await store(db, logs, logged, (rows) => insertLogs(tenantId, rows))
  await db.run(countLogs(tenantId))
  await store(db, CHANGES, changeRow, (rows) => insertAudit(tenantId, rows))
  const day = (at: number, of: number) => today - Math.floor(at / of)
  const sums: readonly [number, (at: number) => unknown[], (rows: string) => Statement][] = [
    [YEAR * APPS, (at) => [day(at, APPS), `app-${at % APPS}`], byApp(tenantId)],
    [30 * KEYS, (at) => [day(at, KEYS), `key-${at % KEYS}`], byKey(tenantId)],
    [YEAR * PEOPLE, (at) => [day(at, PEOPLE), `person-${at % PEOPLE}`], byPerson(tenantId)],
    [YEAR * 4, (at) => [day(at, 4), ['console', 'share', 'device', 'api'][at % 4]], by(tenantId)],
    [DOCS, (at) => [at + 1, `doc-${at}`, `Document ${at}`, `d-${at}`], insertDocs(tenantId)],
    [DOCS * CITED_DAYS, (at) => [1 + (at % DOCS), day(at, DOCS)], insertCitations],
  ]
  for (const [count, rowOf, insert] of sums) await store(db, count, rowOf, insert)
}

async function store(
  db: Db,
  count: number,
  rowOf: (at: number) => unknown[],
  insert: (rows: string) => Statement,
): Promise<void> {
  let storing: Promise<unknown> = Promise.resolve()
  for (let from = 0; from < count; from += ROWS) {
    const rows = Array.from({ length: Math.min(ROWS, count - from) }, (_, i) => rowOf(from + i))
    const statement = insert(JSON.stringify(rows))
    await storing
    storing = db.run(statement)
  }
  await storing
}

/** One row in fifty is a refusal, one in five hundred a failure. */
const statusOf = (at: number) => (at % 500 === 3 ? 502 : at % 50 === 1 ? 429 : 200)

function logRow(rows: number) {
  const random = randomNumbers()
  const [first, step] = [Date.now() - LOG_DAYS * DAY_MS, (LOG_DAYS * DAY_MS) / rows]
  return (at: number) => [
    Math.floor(first + step * at),
    `log-${at}`,
    statusOf(at),
    Math.floor(10 + 3_000 * random() ** 4),
    `talk-${Math.floor(at / 20)}`,
  ]
}

const insertTenants = (rows: string) => sql`
  INSERT INTO tenant (id, created_at) SELECT r.value ->> 0, '2026-01-01T00:00:00.000Z'
  FROM json_each(${rows}) r`

const insertLogs = (tenantId: string, rows: string) => sql`
  INSERT INTO request_log (tenant_id, ts, id, endpoint, status, latency_ms, session_id, text_chars)
  SELECT ${tenantId}, CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, '/v1/agent',
    CAST(r.value ->> 2 AS BIGINT), CAST(r.value ->> 3 AS BIGINT), r.value ->> 4, 20
  FROM json_each(${rows}) r`

/** Each row counts for its day and for all days together. */
const countLogs = (tenantId: string) => sql`
  INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
  SELECT tenant_id, CASE WHEN d.value ->> 0 = 'all' THEN -1 ELSE ts / 86400000 END AS day, status,
    latency_ms, count(*)
  FROM request_log CROSS JOIN json_each('[["all"],["day"]]') d
  WHERE tenant_id = ${tenantId} GROUP BY 1, 2, 3, 4`

/** Two a minute, for less than the time after which the server deletes them. */
function changeRow(at: number) {
  const ts = Date.now() - (CHANGES - at) * 30_000
  return [newIdAt(ts), ts, `app-${at % APPS}`]
}

const insertAudit = (tenantId: string, rows: string) => sql`
  INSERT INTO audit (tenant_id, id, ts, person, action, target, target_name, address)
  SELECT ${tenantId}, r.value ->> 0, CAST(r.value ->> 1 AS BIGINT), 'a@example.com', 'app.change',
    r.value ->> 2, r.value ->> 2, '127.0.0.1'
  FROM json_each(${rows}) r`

const byApp = (tenantId: string) => (rows: string) =>
  sql`
  INSERT INTO usage_day (tenant_id, day, app_id, calls, input_tokens, output_tokens)
  SELECT ${tenantId}, CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, 100, 10000, 10000
  FROM json_each(${rows}) r`

const byKey = (tenantId: string) => (rows: string) =>
  sql`
  INSERT INTO usage_key_day (tenant_id, day, key_id, app_id, channel, calls, input_tokens,
    output_tokens)
  SELECT ${tenantId}, CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, '', 'platform', 1, 10, 10
  FROM json_each(${rows}) r`

const byPerson = (tenantId: string) => (rows: string) =>
  sql`
  INSERT INTO usage_person_day (tenant_id, day, user_id, input_tokens, output_tokens)
  SELECT ${tenantId}, CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, 10, 10
  FROM json_each(${rows}) r`

const by = (tenantId: string) => (rows: string) =>
  sql`
  INSERT INTO usage_source_day (tenant_id, day, source, calls, input_tokens, output_tokens)
  SELECT ${tenantId}, CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, 100, 10000, 10000
  FROM json_each(${rows}) r`

/** Not embedded again by the server, which has another model. */
const NEVER = Number.MAX_SAFE_INTEGER

const insertDocs = (tenantId: string) => (rows: string) =>
  sql`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model,
    embed_after)
  SELECT CAST(r.value ->> 0 AS BIGINT), r.value ->> 1, ${tenantId}, r.value ->> 2, 1000, 2,
    '2026-01-01T00:00:00.000Z', 'bench', ${NEVER}
  FROM json_each(${rows}) r`

const insertCitations = (rows: string) => sql`
  INSERT INTO kb_citation (doc_num, day, count)
  SELECT CAST(r.value ->> 0 AS BIGINT), CAST(r.value ->> 1 AS BIGINT), 3 FROM json_each(${rows}) r`
