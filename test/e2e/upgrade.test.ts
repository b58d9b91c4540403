import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { FIXTURE_KEY, SEEDS } from '../fixtures/databases/seed.ts'
import { openBoxFile } from '../support/box-file.ts'
import { ROOT } from '../support/command.ts'
import { run } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const FOLDER = join(ROOT, 'test', 'fixtures', 'databases')
const MEND =
  'run bun scripts/make-database-fixtures.ts for a new migration, with --anew for a changed one ' +
  'that is not released; never change a released one'

/** A database as the version whose newest migration is `name` left it. */
async function stored(name: string, folder: TempFolder): Promise<string> {
  const bytes = Bun.gunzipSync(await Bun.file(join(FOLDER, `${name}.db.gz`)).arrayBuffer())
  mkdirSync(folder.file('data'), { recursive: true })
  writeFileSync(folder.file('data', 'moonbase.db'), bytes)
  const key = '00'.repeat(32)
  const secrets = { session_secret: key, encryption_key: key }
  writeFileSync(folder.file('data', 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
  return folder.file('data')
}

function query<Result>(path: string, work: (db: Database) => Result): Result {
  const db = openBoxFile(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const schema = (path: string) =>
  query(path, (db) => db.query('SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2').all())

describe.each(MIGRATIONS.map(({ name }, index) => [name, index] as const))(
  'a database of version %s',
  (name, index) => {
    test('the fixture of an old database has its schema and rows in every table', async () => {
      expect(existsSync(join(FOLDER, `${name}.db.gz`)), MEND).toBe(true)
      using folder = tempFolder()
      const old = `${await stored(name, folder)}/moonbase.db`
      const fresh = { path: folder.file('fresh.db'), extensions: [] }
      migrate(fresh, MIGRATIONS.slice(0, index + 1), 's')
      expect(schema(old), MEND).toEqual(schema(fresh.path))
      const made = query(old, (db) =>
        db
          .query<{ name: string }, []>(
            `SELECT name FROM sqlite_master WHERE type = 'table'
             AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'kb_word%'
             AND name NOT LIKE 'turn_word%'`,
          )
          .all()
          .map((row) => row.name),
      )
      const seeded = Object.values(SEEDS).flatMap(Object.keys)
      expect(made.filter((table) => table !== 'migration' && !seeded.includes(table))).toEqual([])
    })

    test('an old database is upgraded with every row, after a copy', async () => {
      using folder = tempFolder()
      const data = await stored(name, folder)
      await using server = await startServer({ dataDir: data })
      const headers = { authorization: `Bearer ${FIXTURE_KEY}` }
      const history = await fetch(`${server.url}/v1/sessions/s/history`, { headers })
      expect(await history.json()).toMatchObject({ summary: '摘要', count: 4 })
      await server.stop()

      query(`${data}/moonbase.db`, (db) => {
        const due = MIGRATIONS.slice(0, index + 1).flatMap((one) =>
          Object.entries(SEEDS[one.name] ?? {}),
        )
        for (const [table, rows] of due) {
          // The request log keeps seven days, and these rows are older.
          if (table.startsWith('request_log')) continue
          const kept = db.query(`SELECT * FROM ${table}`).all()
          for (const { embed_model: _, ...row } of rows) {
            expect(kept).toContainEqual(expect.objectContaining(row))
          }
        }
        expect(db.query('SELECT name FROM migration ORDER BY name').all()).toEqual(
          MIGRATIONS.map((one) => ({ name: one.name })),
        )
      })
      const copies = existsSync(`${data}/backups`) ? readdirSync(`${data}/backups`) : []
      expect(copies.length).toBe(index === MIGRATIONS.length - 1 ? 0 : 1)
      expect((await run(['doctor'], data)).code).toBe(0)
    }, 60_000)
  },
)

test('a database of a newer version is refused in one sentence, and unchanged', async () => {
  using folder = tempFolder()
  const newest = MIGRATIONS.at(-1)?.name ?? ''
  const data = await stored(newest, folder)
  query(`${data}/moonbase.db`, (db) => {
    db.run("INSERT INTO migration VALUES ('9999-later')")
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  const before = await Bun.file(`${data}/moonbase.db`).bytes()
  for (const args of [['serve'], ['key', 'create'], ['admin', 'a@example.com']]) {
    const { code, out, err } = await run(args, data)
    expect([code, out], args[0]).toEqual([1, ''])
    expect(err.trim().split('\n'), args[0]).toHaveLength(1)
    expect(err, args[0]).toContain('9999-later')
    expect(err, args[0]).toContain('backups')
  }
  expect(await Bun.file(`${data}/moonbase.db`).bytes()).toEqual(before)
  expect(existsSync(`${data}/backups`)).toBe(false)
}, 60_000)

test.skipIf(MIGRATIONS.length < 2)(
  'the version before refuses what this one upgraded, and takes its copy back',
  async () => {
    using folder = tempFolder()
    const [before, added] = [MIGRATIONS.slice(0, -1), MIGRATIONS.at(-1)?.name ?? '']
    const data = await stored(before.at(-1)?.name ?? '', folder)
    const file = { path: `${data}/moonbase.db`, extensions: [] }
    const turns = () => query(file.path, (db) => db.query('SELECT * FROM turn ORDER BY 1, 2').all())
    const had = turns()
    expect(had.length).toBeGreaterThan(0)
    await using server = await startServer({ dataDir: data })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    await server.stop()

    expect(() => migrate(file, before, 's')).toThrow(added)
    const [copy = ''] = readdirSync(`${data}/backups`)
    expect(copy).toStartWith('before-upgrade-')
    for (const end of ['', '-wal', '-shm']) rmSync(`${file.path}${end}`, { force: true })
    copyFileSync(`${data}/backups/${copy}`, file.path)
    expect(migrate(file, before, 's')).toBeNull()
    expect(turns()).toEqual(had)
  },
  60_000,
)
