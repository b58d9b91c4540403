// To be deleted in 0.2, with src/storage/before-first-release.ts.
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS as OF_POSTGRES } from '../../src/storage/postgres/migrations/index.ts'
import {
  COUNTED,
  COUNTS,
  expectKept,
  NUMBERED,
  type Row,
  SESSIONS,
  unpacked,
} from '../support/former-database.ts'
import { startPostgres } from '../support/postgres.ts'
import { askPostgres } from '../support/postgres-client.ts'

/** A database server as the last build before 0.1.0 left it. */
async function formerServer(fixture = 'before-0.1.sql.gz') {
  const server = await startPostgres()
  const text = new TextDecoder().decode(await unpacked(fixture))
  const migrations = [{ name: '0001-init', sql: text }]
  await migratePostgres({ url: server.url, clock: systemClock(), migrations })
  return server
}

const start = (url: string) =>
  migratePostgres({ url, clock: systemClock(), migrations: OF_POSTGRES })

/** What the catalogue says of tables, columns, indexes, constraints, triggers and functions. */
const CATALOGUE = `
  SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable ||
    coalesce(column_default, '') AS line
  FROM information_schema.columns WHERE table_schema = current_schema()
  UNION ALL SELECT 'index ' || replace(indexdef, schemaname || '.', '') FROM pg_indexes
  WHERE schemaname = current_schema()
  UNION ALL SELECT 'constraint ' || conrelid::regclass || pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
  UNION ALL SELECT 'trigger ' || tgrelid::regclass || tgname || tgenabled::text FROM pg_trigger
  WHERE NOT tgisinternal
    AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
  UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc p
  LEFT JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  WHERE pronamespace = current_schema()::regnamespace AND d.objid IS NULL
  UNION ALL SELECT 'relation ' || relkind::text || relpersistence::text || relname FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')`
const catalogueOf = async (url: string) =>
  (await askPostgres<{ line: string }>(url, CATALOGUE)).map(({ line }) => line).sort()

async function serverContent(url: string): Promise<Record<string, Row[]>> {
  const tables = await askPostgres<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
     AND relkind = 'r' AND relname <> 'migration'`,
  )
  const content: Record<string, Row[]> = {}
  for (const { name } of tables) {
    content[name] = await askPostgres<Row>(url, `SELECT * FROM "${name}"`)
  }
  return content
}

test('a server of the builds before 0.1.0 is brought over by one of three', async () => {
  await using former = await formerServer()
  const { url } = former
  const before = await serverContent(url)
  const starts = await Promise.all([start(url), start(url), start(url)])
  expect(starts.filter(({ length }) => length)).toEqual([OF_POSTGRES.map(({ name }) => name)])
  await using fresh = await startPostgres('all')
  expect(await catalogueOf(url)).toEqual(await catalogueOf(fresh.url))
  const after = await serverContent(url)
  expect(Object.values(before).filter(({ length }) => length).length).toBeGreaterThan(28)
  expectKept(before, after)
  const next = `SELECT nextval('session_num') AS session, nextval('kb_doc_num') AS doc`
  expect(await askPostgres(url, next)).toEqual([{ session: '41', doc: '51' }])
  const schemas = `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'moonbase%'`
  expect(await askPostgres(url, schemas)).toEqual([])
  expect(await askPostgres(url, 'SELECT name FROM migration')).toEqual(
    OF_POSTGRES.map(({ name }) => ({ name })),
  )
  await askPostgres(url, 'DELETE FROM request_log')
  expect(await askPostgres(url, 'SELECT * FROM request_log_count')).toEqual([])
})

/** The client of the tests gives numbers as text. */
const inText = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))

test.each(['before-0.1-files.sql.gz', 'before-0.1-runs.sql.gz'])(
  'the server of %s is brought over by one of two, with each row',
  async (fixture) => {
    await using former = await formerServer(fixture)
    const { url } = former
    const before = await serverContent(url)
    const starts = await Promise.all([start(url), start(url)])
    expect(starts.filter(({ length }) => length)).toEqual([OF_POSTGRES.map(({ name }) => name)])
    await using fresh = await startPostgres('all')
    expect(await catalogueOf(url)).toEqual(await catalogueOf(fresh.url))
    expect(Object.values(before).filter(({ length }) => length).length).toBeGreaterThan(30)
    expectKept(before, await serverContent(url))
    expect(await start(url)).toEqual([])
  },
)

test('a server that lacks the last of those migrations is brought over by one of two', async () => {
  await using former = await formerServer('before-0.1-4.sql.gz')
  const { url } = former
  const before = await serverContent(url)
  const starts = await Promise.all([start(url), start(url)])
  expect(starts.filter(({ length }) => length)).toEqual([OF_POSTGRES.map(({ name }) => name)])
  await using fresh = await startPostgres('all')
  expect(await catalogueOf(url)).toEqual(await catalogueOf(fresh.url))
  const after = await serverContent(url)
  expect(Object.values(before).filter(({ length }) => length).length).toBeGreaterThan(24)
  expectKept(before, after)
  expect(await askPostgres(url, SESSIONS)).toEqual(NUMBERED.map(inText))
  expect(await askPostgres(url, COUNTS)).toEqual(COUNTED.map(inText))
  const next = `SELECT nextval('session_num') AS session, nextval('kb_doc_num') AS doc`
  expect(await askPostgres(url, next)).toEqual([{ session: '3', doc: '51' }])
  await askPostgres(url, 'DELETE FROM request_log')
  expect(await askPostgres(url, COUNTS)).toEqual([])
})

test('a server that cannot be brought over whole is refused, and left as it is', async () => {
  await using former = await formerServer()
  const { url } = former
  await askPostgres(url, "ALTER TABLE app ADD COLUMN odd TEXT DEFAULT 'x'")
  const before = [await catalogueOf(url), await serverContent(url)]
  await expect(start(url)).rejects.toThrow('odd')
  expect([await catalogueOf(url), await serverContent(url)]).toEqual(before)

  await askPostgres(url, "DELETE FROM migration WHERE name >= '0004'")
  await expect(start(url)).rejects.toThrow('start it once with the last build before 0.1.0')
})
