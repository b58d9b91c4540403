// To be deleted in 0.2, with src/storage/before-first-release.ts.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LAST, LATER } from '../../src/storage/before-first-release/sqlite/index.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { inspect } from '../../src/storage/sqlite/inspect.ts'
import { migrate, UnusableFileError } from '../../src/storage/sqlite/migrate.ts'
import { FIXTURE_KEY } from '../fixtures/databases/seed.ts'
import {
  COUNTED,
  COUNTS,
  expectKept,
  NUMBERED,
  type Row,
  SESSIONS,
  unpacked,
} from '../support/former-database.ts'
import { signIn } from '../support/login.ts'
import { run } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

/** The path of a database of the last build before 0.1.0, in the folder `data` of `folder`. */
const formerFile = (folder: TempFolder, ...changes: string[]) =>
  fileOf('before-0.1.db.gz', folder, changes)

async function fileOf(fixture: string, folder: TempFolder, changes: string[] = []) {
  mkdirSync(folder.file('data'))
  const path = folder.file('data', 'moonbase.db')
  writeFileSync(path, await unpacked(fixture))
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
  }
  expectKept(before, after)
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

/** Of the builds whose first migration had all tables; it has had as many later ones as `count`. */
async function laterFile(folder: TempFolder, count: number): Promise<string> {
  const path = await fileOf('before-0.1-init.db.gz', folder)
  inFile(path, (db) => {
    for (const { name, sql } of LATER.slice(0, count)) {
      db.run(sql)
      db.query('INSERT INTO migration (name) VALUES (?)').run(name)
    }
  })
  return path
}

test.each([
  ['0001-init', 0],
  ['0003-files', 2],
  ['0004-index', 3],
])('a file up to %s gets the tables of now, and keeps each row', async (_, count) => {
  using folder = tempFolder()
  const path = await laterFile(folder, count)
  const before = contentOf(path)
  migrated(path)
  const fresh = folder.file('fresh.db')
  migrated(fresh)
  expect(schemaOf(path)).toEqual(schemaOf(fresh))
  expectKept(before, contentOf(path))
  expect(inspect(path, MIGRATIONS)).toEqual({ damage: [], unknown: [], pending: [], foreign: [] })
})

test('a file of the last build is brought over, and then refused by that build', async () => {
  using folder = tempFolder()
  const path = await fileOf('before-0.1-runs.db.gz', folder, [`UPDATE run SET request = '{"é":1}'`])
  const [schema, before] = [schemaOf(path), contentOf(path)]
  for (const [table, rows] of Object.entries(before)) {
    expect(rows.length, table).toBeGreaterThan(0)
  }
  const copy = String(migrated(path))
  const fresh = folder.file('fresh.db')
  migrated(fresh)
  expect(schemaOf(path)).toEqual(schemaOf(fresh))
  expectKept(before, contentOf(path))
  expect(contentOf(path).run).toMatchObject([{ ask_bytes: 8 }])
  expect(migrated(path, 'again')).toBeNull()

  const former = [{ name: '0001-init', sql: '' }, ...LATER]
  expect(() => migrate({ path, extensions: [] }, former, 's')).toThrow('0001-tables')
  expect([schemaOf(copy), contentOf(copy)]).toEqual([schema, before])
})

test('a file that has a column of its own is left as it is', async () => {
  using folder = tempFolder()
  const path = await formerFile(folder, "ALTER TABLE app ADD COLUMN odd TEXT DEFAULT 'x'")
  const [schema, before] = [schemaOf(path), contentOf(path)]
  expect(() => migrated(path)).toThrow('no place for app.odd')
  expect([schemaOf(path), contentOf(path)]).toEqual([schema, before])
})

test('a file that lacks the last of those migrations gets them, and keeps each row', async () => {
  using folder = tempFolder()
  const path = await fileOf('before-0.1-19.db.gz', folder)
  inFile(path, (db) =>
    db.run(
      `INSERT INTO request_log (tenant_id, id, ts, endpoint, status, latency_ms)
       SELECT tenant_id, 'log-9', ts, endpoint, status, latency_ms FROM request_log LIMIT 1`,
    ),
  )
  const [schema, before] = [schemaOf(path), contentOf(path)]
  const copy = String(migrated(path))
  expect([schemaOf(copy), contentOf(copy)]).toEqual([schema, before])

  const fresh = folder.file('fresh.db')
  migrated(fresh)
  expect(schemaOf(path)).toEqual(schemaOf(fresh))
  const after = contentOf(path)
  expect(Object.keys(before).length).toBeGreaterThan(24)
  for (const [table, rows] of Object.entries(before)) {
    expect(rows.length, table).toBeGreaterThan(0)
  }
  expectKept(before, after)
  expect(inspect(path, MIGRATIONS)).toEqual({ damage: [], unknown: [], pending: [], foreign: [] })
  expect(rowsIn(path, SESSIONS)).toEqual(NUMBERED)
  expect(rowsIn(path, COUNTS)).toEqual(
    COUNTED.map((row) => ({ ...row, count: before.request_log?.length })),
  )
  inFile(path, (db) => db.run('DELETE FROM request_log'))
  expect(rowsIn(path, COUNTS)).toEqual([])
  expect(migrated(path, 'again')).toBeNull()
})

test('a file between two of the last migrations gets those that it lacks', async () => {
  using folder = tempFolder()
  const path = await fileOf('before-0.1-19.db.gz', folder)
  inFile(path, (db) => {
    for (const { name, sql } of LAST.slice(0, 3)) {
      db.run(sql)
      db.query('INSERT INTO migration (name) VALUES (?)').run(name)
    }
    db.run('UPDATE session SET num = num + 6')
  })
  migrated(path)
  expect(inspect(path, MIGRATIONS)).toEqual({ damage: [], unknown: [], pending: [], foreign: [] })
  expect(rowsIn(path, SESSIONS)).toEqual(NUMBERED.map((row) => ({ ...row, num: row.num + 6 })))
})

test('a file that fails after the last migrations is left as it is', async () => {
  using folder = tempFolder()
  const path = await fileOf('before-0.1-19.db.gz', folder, ['ALTER TABLE turn ADD COLUMN odd TEXT'])
  const [schema, before] = [schemaOf(path), contentOf(path)]
  expect(() => migrated(path)).toThrow('no place for turn.odd')
  expect([schemaOf(path), contentOf(path)]).toEqual([schema, before])
})

test('a data folder that lacks the last migrations starts, and its words are found', async () => {
  using folder = tempFolder()
  const data = join(await fileOf('before-0.1-19.db.gz', folder), '..')
  expect((await run(['doctor'], data)).out).toMatch(/ok +Database +sound, .* upgraded at the next/)
  await using server = await startServer({ dataDir: data })
  const headers = { authorization: `Bearer ${FIXTURE_KEY}` }
  const read = async (path: string) => (await fetch(`${server.url}/v1${path}`, { headers })).json()
  expect(await read('/sessions/s/history')).toMatchObject({ summary: '摘要', count: 4 })
  const { headers: signedIn } = await signIn(server)
  const found = async (): Promise<Row[]> => {
    const path = `/console/conversations?q=${encodeURIComponent('保修')}`
    const page = (await fetch(server.url + path, { headers: signedIn })).json()
    const { conversations } = (await page) as { conversations: Row[] }
    // The start indexes what was said in the background.
    return conversations.length > 0 ? conversations : found()
  }
  expect(await found()).toMatchObject([{ id: 'named' }])
}, 60_000)

test('a file of a build long before 0.1.0 is refused, and says what to do', async () => {
  using folder = tempFolder()
  const path = await formerFile(folder, "DELETE FROM migration WHERE name >= '0019'")
  expect(() => migrated(path)).toThrow(UnusableFileError)
  const { code, err } = await run(['serve'], folder.file('data'))
  expect(code).toBe(1)
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(err).toContain('start it once with the last build before 0.1.0')
})

test.each(['before-0.1.db.gz', 'before-0.1-init.db.gz', 'before-0.1-runs.db.gz'])(
  'the data folder of %s starts, brought over by one of two',
  async (fixture) => {
    using folder = tempFolder()
    const data = join(await fileOf(fixture, folder), '..')
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
  },
  60_000,
)

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
