// To be deleted in 0.2, with src/storage/before-first-release.ts.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS as OF_POSTGRES } from '../../src/storage/postgres/migrations/index.ts'
import { inspect } from '../../src/storage/sqlite/inspect.ts'
import { migrate, UnusableFileError } from '../../src/storage/sqlite/migrate.ts'
import { FIXTURE_KEY } from '../fixtures/databases/seed.ts'
import { ROOT } from '../support/command.ts'
import { startPostgres } from '../support/postgres.ts'
import { askPostgres } from '../support/postgres-client.ts'
import { run } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const unpacked = async (name: string) =>
  Bun.gunzipSync(await Bun.file(join(ROOT, 'test', 'fixtures', 'databases', name)).arrayBuffer())

/** The path of a database of the last build before 0.1.0, in the folder `data` of `folder`. */
async function formerFile(folder: TempFolder, ...changes: string[]): Promise<string> {
  mkdirSync(folder.file('data'))
  const path = folder.file('data', 'moonbase.db')
  writeFileSync(path, await unpacked('before-0.1.db.gz'))
  const key = '00'.repeat(32)
  const secrets = { session_secret: key, encryption_key: key }
  writeFileSync(folder.file('data', 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
  inFile(path, (db) => changes.map((change) => db.run(change)))
  return path
}

function inFile<Result>(path: string, work: (db: Database) => Result): Result {
  const db = new Database(path, { strict: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

type Row = Record<string, unknown>
const rowsIn = (path: string, query: string) => inFile(path, (db) => db.query(query).all() as Row[])
const schemaOf = (path: string) =>
  rowsIn(path, 'SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2')

/** All rows by table, without the tables behind the indexes of words. */
function contentOf(path: string): Record<string, Row[]> {
  const tables = rowsIn(
    path,
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
     AND name NOT LIKE '%!_word!_%' ESCAPE '!' AND name NOT IN ('migration', 'sqlite_stat1')`,
  )
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), rowsIn(path, `SELECT * FROM "${name}"`)]),
  )
}

const migrated = (path: string, stamp = 's') => migrate({ path, extensions: [] }, MIGRATIONS, stamp)

test('a file of the builds before 0.1.0 gets the tables of now, and keeps each row', async () => {
  using folder = tempFolder()
  const path = await formerFile(folder)
  const [schema, before] = [schemaOf(path), contentOf(path)]
  expect(Object.keys(before).length).toBeGreaterThan(28)
  const copy = migrated(path)
  expect(schemaOf(String(copy))).toEqual(schema)

  const fresh = folder.file('fresh.db')
  migrated(fresh)
  expect(schemaOf(path)).toEqual(schemaOf(fresh))
  const after = contentOf(path)
  for (const [table, rows] of Object.entries(before)) {
    expect(rows.length, table).toBeGreaterThan(0)
    expect(after[table], table).toHaveLength(rows.length)
    for (const row of rows) expect(after[table]).toContainEqual(expect.objectContaining(row))
  }
  const found = (words: string, asked: string) =>
    rowsIn(path, `SELECT rowid FROM ${words} WHERE ${words} MATCH '${asked}'`)
  expect(found('kb_word', 'shackleton')).toEqual([{ rowid: 1024 }])
  expect(found('turn_word', 'farewell')).toHaveLength(1)
  expect(inspect(path, MIGRATIONS)).toEqual({ damage: [], unknown: [], pending: [], foreign: [] })
  expect(migrated(path, 'again')).toBeNull()

  // Triggers and indexes of words work on what was brought over.
  inFile(path, (db) => {
    db.run('PRAGMA foreign_keys = ON')
    db.run("INSERT INTO turn_word (turn_word) VALUES ('integrity-check')")
    db.run("DELETE FROM session WHERE id = 's'")
    db.run('DELETE FROM request_log')
  })
  expect(found('turn_word', 'farewell')).toEqual([])
  expect(rowsIn(path, 'SELECT * FROM request_log_count')).toEqual([])
})

test('a file that has a column of its own is left as it is', async () => {
  using folder = tempFolder()
  const path = await formerFile(folder, "ALTER TABLE app ADD COLUMN odd TEXT DEFAULT 'x'")
  const [schema, before] = [schemaOf(path), contentOf(path)]
  expect(() => migrated(path)).toThrow('no place for app.odd')
  expect([schemaOf(path), contentOf(path)]).toEqual([schema, before])
})

test('a file of a build long before 0.1.0 is refused, and says what to do', async () => {
  using folder = tempFolder()
  const path = await formerFile(folder, "DELETE FROM migration WHERE name >= '0020'")
  expect(() => migrated(path)).toThrow(UnusableFileError)
  const { code, err } = await run(['serve'], folder.file('data'))
  expect(code).toBe(1)
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(err).toContain('start it once with the last build before 0.1.0')
})

test('a data folder of the builds before 0.1.0 starts, brought over by one of two', async () => {
  using folder = tempFolder()
  const data = join(await formerFile(folder), '..')
  const doctor = await run(['doctor'], data)
  expect(doctor.out).toMatch(/ok +Database +sound, .* upgraded at the next start, after a copy/)

  const create = () => run(['key', 'create', '--email', 'a@example.com'], data)
  const created = await Promise.all([create(), create()])
  expect(created.map(({ code, err }) => `${code} ${err}`)).toEqual(['0 ', '0 '])
  const copies = readdirSync(join(data, 'backups'))
  expect(copies).toHaveLength(1)

  await using server = await startServer({ dataDir: data })
  const headers = { authorization: `Bearer ${FIXTURE_KEY}` }
  const history = await fetch(`${server.url}/v1/sessions/s/history`, { headers })
  expect(await history.json()).toMatchObject({ summary: '摘要', count: 4 })
  await server.stop()
  expect(readdirSync(join(data, 'backups'))).toEqual(copies)
  expect((await run(['doctor'], data)).code).toBe(0)
  expect(existsSync(join(data, 'moonbase.db'))).toBe(true)
}, 60_000)

test('a backup of a build before 0.1.0 is restored, and brought over by a start', async () => {
  using folder = tempFolder()
  const data = join(await formerFile(folder), '..')
  const [file, fresh] = [folder.file('b.db'), folder.file('fresh')]
  expect((await run(['backup', file], data)).code).toBe(0)
  expect((await run(['restore', file], fresh)).code).toBe(0)
  expect((await run(['key', 'create', '--email', 'a@example.com'], fresh)).code).toBe(0)
  const path = join(fresh, 'moonbase.db')
  expect(inspect(path, MIGRATIONS)).toEqual({ damage: [], unknown: [], pending: [], foreign: [] })
  expect(rowsIn(path, 'SELECT seq FROM turn')).toHaveLength(3)
}, 60_000)

/** A database server as the last build before 0.1.0 left it. */
async function formerServer() {
  const server = await startPostgres()
  const text = new TextDecoder().decode(await unpacked('before-0.1.sql.gz'))
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
  for (const [table, rows] of Object.entries(before)) {
    expect(after[table], table).toHaveLength(rows.length)
    for (const row of rows) expect(after[table]).toContainEqual(expect.objectContaining(row))
  }
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

test('a server that cannot be brought over whole is refused, and left as it is', async () => {
  await using former = await formerServer()
  const { url } = former
  await askPostgres(url, "ALTER TABLE app ADD COLUMN odd TEXT DEFAULT 'x'")
  const before = [await catalogueOf(url), await serverContent(url)]
  await expect(start(url)).rejects.toThrow('odd')
  expect([await catalogueOf(url), await serverContent(url)]).toEqual(before)

  await askPostgres(url, "DELETE FROM migration WHERE name = '0009-people'")
  await expect(start(url)).rejects.toThrow('start it once with the last build before 0.1.0')
})
