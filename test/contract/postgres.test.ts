import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { DatabaseAway } from '../../src/core/errors.ts'
import { locked, sql } from '../../src/storage/db.ts'
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/migrations/index.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { startApp } from '../support/app.ts'
import { startLine } from '../support/cut.ts'
import {
  hasPostgres,
  postgresSettings,
  startPostgres,
  type TestPostgres,
} from '../support/postgres.ts'
import { run } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'

const clock = systemClock()
/** A clock on which a pause of a minute is over in a hundredth of a second. */
const restless = { ...clock, steady: () => clock.steady() * 6000 }
/** One on which a limit of a minute is, too. */
const hurried = {
  ...restless,
  after: (ms: number, task: () => void) => clock.after(ms / 6000, task),
}
const portOf = (url: string) => Number(new URL(url).port)

function at(url: string, port: number): string {
  const moved = new URL(url)
  moved.port = String(port)
  return moved.href
}

let pg: TestPostgres
let db: ReturnType<typeof openPostgres>
beforeAll(async () => {
  pg = await startPostgres('all')
  db = openPostgres({ url: pg.url, clock })
  await db.run(sql`CREATE TABLE test_note (id TEXT COLLATE "C" PRIMARY KEY)`)
})
afterAll(async () => {
  await db.close()
  await pg[Symbol.asyncDispose]()
})

const notes = async () =>
  (await db.all<{ id: string }>(sql`SELECT id FROM test_note ORDER BY id`)).map(({ id }) => id)
const put = (id: string) => sql`INSERT INTO test_note (id) VALUES (${id})`

describe('migrations', () => {
  const more = (count: number) => [
    ...MIGRATIONS,
    ...Array.from({ length: count }, (_, i) => ({ name: `9${i}-later`, sql: 'SELECT 1' })),
  ]

  test('one of three servers that start at the same time migrates', async () => {
    await using empty = await startPostgres()
    const start = () => migratePostgres({ url: empty.url, clock, migrations: MIGRATIONS })
    const applied = (await Promise.all([start(), start(), start()])).filter(({ length }) => length)
    expect(applied).toEqual([MIGRATIONS.map(({ name }) => name)])
    expect(await start()).toEqual([])
  })

  test('a database of the next version is used, of the one after refused', async () => {
    await using other = await startPostgres()
    const { url } = other
    await migratePostgres({ url, clock, migrations: more(1) })
    expect(await migratePostgres({ url, clock, migrations: MIGRATIONS })).toEqual([])
    await migratePostgres({ url, clock, migrations: more(2) })
    const start = migratePostgres({ url, clock, migrations: MIGRATIONS })
    await expect(start).rejects.toThrow('newer Moonbase')
    await expect(start).rejects.toThrow('use that version')
  })

  test('a migration that fails leaves nothing behind', async () => {
    await using other = await startPostgres()
    const broken = [...MIGRATIONS, { name: '9-broken', sql: 'CREATE TABLE x (); NOT SQL' }]
    const start = (migrations: typeof broken) =>
      migratePostgres({ url: other.url, clock, migrations })
    await expect(start(broken)).rejects.toThrow('syntax error')
    expect(await start([...MIGRATIONS])).toEqual(MIGRATIONS.map(({ name }) => name))
  })

  test('both databases have the same tables and columns', async () => {
    const file = new Database(':memory:')
    for (const { sql: text } of OF_SQLITE) file.run(text)
    const wanted = file
      .query<{ place: string }, []>(
        `SELECT t.name || '.' || c.name || CASE WHEN c.pk > 0 THEN ' key' ELSE '' END ||
          CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN '' ELSE ' or null' END AS place
        FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT LIKE 'kb_word%' AND t.name NOT LIKE 'kb_vector%'
          AND t.name NOT LIKE 'turn_word%'`,
      )
      .all()
    const there = await db.all<{ place: string }>(sql`
      SELECT c.table_name || '.' || c.column_name || CASE WHEN k.column_name IS NULL THEN ''
        ELSE ' key' END || CASE WHEN c.is_nullable = 'YES' THEN ' or null' ELSE '' END AS place
      FROM information_schema.columns c
        LEFT JOIN information_schema.table_constraints p ON p.table_schema = c.table_schema
          AND p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
        LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema
          AND k.constraint_name = p.constraint_name AND k.column_name = c.column_name
      WHERE c.table_schema = current_schema()`)
    const names = new Set(there.map(({ place }) => place))
    expect(wanted.length).toBeGreaterThan(150)
    expect(wanted.filter(({ place }) => !names.has(place))).toEqual([])
  })
})

describe('statements', () => {
  test('text is in the order of its bytes', async () => {
    const words = ['a', 'B', 'Z', 'b', 'ä', '中', '10', '9', '_']
    await db.batch(words.map(put))
    expect(await notes()).toEqual(words.toSorted())
    await db.run(sql`DELETE FROM test_note`)
  })

  test('a condition on a count holds among the writers of two servers', async () => {
    const other = openPostgres({ url: pg.url, clock })
    const limited = (id: string) => locked('test_note', 'me')`
      INSERT INTO test_note (id) SELECT ${id} WHERE (SELECT count(*) FROM test_note) < ${10}`
    const tries = Array.from({ length: 60 }, (_, i) => (i % 2 ? db : other).run(limited(`n${i}`)))
    const stored = (await Promise.all(tries)).filter(({ changes }) => changes === 1)
    expect(stored).toHaveLength(10)
    expect(await notes()).toHaveLength(10)
    await other.close()
    await db.run(sql`DELETE FROM test_note`)
  })

  test('an error of a statement quotes no value', async () => {
    const secret = 'value-of-a-person'
    await db.run(put(secret))
    const twice = await db.run(put(secret)).catch((error: unknown) => error)
    expect(String(twice)).toContain('23505')
    expect(`${twice} ${Bun.inspect(twice)}`).not.toContain(secret)
    await db.run(sql`DELETE FROM test_note`)
  })

  test('a large batch and a large value are stored whole', async () => {
    const ids = Array.from({ length: 1500 }, (_, i) => `row-${String(i).padStart(5, '0')}`)
    await db.batch([...ids.map(put), put('x'.repeat(2_000)), put('中'.repeat(800))])
    expect(await notes()).toHaveLength(1502)
    const long = 'z'.repeat(20 * 1024 * 1024)
    expect(await db.get<{ n: number }>(sql`SELECT length(${long}) AS n`)).toEqual({
      n: long.length,
    })
    await db.run(sql`DELETE FROM test_note`)
  })
})

describe('a connection that dies', () => {
  test('the driver is the version that passed these tests; a new one must be tried', async () => {
    const file = Bun.fileURLToPath(new URL('package.json', import.meta.resolve('pg/package.json')))
    // Raise it after `bun scripts/crash.ts --rounds 300` and a hundred runs of these tests.
    expect((await Bun.file(file).json()).version).toBe('8.23.1')
  })

  test('every acknowledged write is there, whenever connections were lost', async () => {
    await using line = await startLine(portOf(pg.url))
    const far = openPostgres({ url: at(pg.url, line.port), clock: restless })
    const acknowledged: string[] = []
    let failures = 0
    let dropped = 0
    for (let round = 0; round < 8; round++) {
      const writes = Array.from({ length: 40 }, (_, i) => {
        const ids = [`r${round}-${i}-a`, `r${round}-${i}-b`]
        const done = far.batch(ids.map(put)).then(
          () => void acknowledged.push(...ids),
          (error: unknown) => {
            expect(error).toBeInstanceOf(DatabaseAway)
            failures++
          },
        )
        // Between the answers of others, so that it meets transactions in every state.
        if (i % 7 === round % 7) void done.then(() => ++dropped && line.drop())
        return done
      })
      await Promise.all(writes)
    }
    expect(dropped).toBeGreaterThan(5)
    expect(failures).toBeGreaterThan(0)
    const there = new Set(await notes())
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
    // Whole or not at all.
    const half = [...there].filter(
      (id) => !there.has(`${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`),
    )
    expect(half).toEqual([])
    expect(await far.get<{ one: number }>(sql`SELECT 1 AS one`)).toEqual({ one: 1 })
    await far.close()
    await db.run(sql`DELETE FROM test_note`)
  })

  test('a reading statement is answered although all kept connections are lost', async () => {
    await using line = await startLine(portOf(pg.url))
    const far = openPostgres({ url: at(pg.url, line.port), clock })
    const ask = () => far.get<{ one: number }>(sql`SELECT 1 AS one`)
    await Promise.all(Array.from({ length: 20 }, ask))
    for (let i = 0; i < 5; i++) {
      line.drop()
      expect(await ask()).toEqual({ one: 1 })
    }
    await far.close()
  })

  test('a server that hangs up at once, is not there or says nothing is away', async () => {
    const line = await startLine(portOf(pg.url))
    const far = openPostgres({ url: at(pg.url, line.port), clock: hurried })
    const ask = () => far.get(sql`SELECT 1 AS one`)
    line.cut()
    await expect(ask()).rejects.toBeInstanceOf(DatabaseAway)
    expect([far.takesWrites(), await far.trouble()]).toEqual([false, 'connection_failed'])
    line.mend()
    line.silence()
    await expect(ask()).rejects.toBeInstanceOf(DatabaseAway)
    await line[Symbol.asyncDispose]()
    await expect(ask()).rejects.toBeInstanceOf(DatabaseAway)
    await far.close()
  })

  test('a database that is away is tried now and then, not with each request', async () => {
    await using line = await startLine(portOf(pg.url))
    let now = 0
    const slow = { ...clock, steady: () => now }
    const far = openPostgres({ url: at(pg.url, line.port), clock: slow })
    const ask = () => far.get(sql`SELECT 1 AS one`)
    line.cut()
    for (let i = 0; i < 20; i++) await expect(ask()).rejects.toBeInstanceOf(DatabaseAway)
    expect(line.tried()).toBe(2)
    now += 1_000
    for (let i = 0; i < 20; i++) await expect(ask()).rejects.toBeInstanceOf(DatabaseAway)
    expect(line.tried()).toBe(3)
    line.mend()
    now += 1_000
    const answers = await Promise.allSettled([ask(), ask()])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await Promise.all([ask(), ask()])).toEqual([{ one: 1 }, { one: 1 }])
    await far.close()
  })
})

describe('a server on PostgreSQL', () => {
  test('requests are 503 while the database is away, and work when it is back', async () => {
    using folder = tempFolder()
    const settings = await postgresSettings(folder.path)
    await using line = await startLine(portOf(settings.MB_DATABASE_URL))
    const url = at(settings.MB_DATABASE_URL, line.port)
    const env = { ...settings, MB_DATA_DIR: folder.path, MB_DATABASE_URL: url }
    await using app = await startApp({ env: { ...env, MB_METRICS_TOKEN: 'metrics' } })
    const { headers } = await app.key()
    const get = async (path: string) => {
      const response = await fetch(app.url + path, { headers })
      return [response.status, response.headers.get('x-error-code')]
    }
    expect(await get('/v1/sessions')).toEqual([200, null])
    line.cut()
    expect(await get('/v1/sessions')).toEqual([503, 'database_stopped'])
    expect(await get('/healthz')).toEqual([503, 'database_stopped'])
    const { status, checks } = (await (await fetch(`${app.url}/status?format=json`)).json()) as {
      status: string
      checks: { name: string; class: string }[]
    }
    expect(status).toBe('down')
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'database', class: 'connection_failed' }),
    )
    line.mend()
    while ((await get('/healthz'))[0] !== 200) await Bun.sleep(10)
    expect(await get('/v1/sessions')).toEqual([200, null])
    const metrics = await fetch(`${app.url}/metrics`, {
      headers: { authorization: 'Bearer metrics' },
    })
    const text = await metrics.text()
    expect(text).toMatch(/\nmoonbase_database_connections [1-9]/)
    expect(text).toMatch(/\nmoonbase_database_errors_total [1-9]/)
    expect(text).not.toContain('moonbase_database_bytes')
  })

  // PGlite lets everybody in.
  test.skipIf(!hasPostgres())(
    'a start that is refused names the setting and no password',
    async () => {
      using folder = tempFolder()
      const env = {
        MB_DATABASE_URL: `${at(pg.url, portOf(pg.url)).replace('moonbase@', 'nobody:hush-hush@')}`,
        MB_SESSION_SECRET: 'a'.repeat(64),
        MB_ENCRYPTION_KEY: 'b'.repeat(64),
      }
      const { code, err } = await run(['key', 'create'], folder.path, env)
      expect([code, err]).toEqual([
        1,
        expect.stringContaining('MB_DATABASE_URL postgres://nobody@'),
      ])
      expect(err).not.toContain('hush')
    },
  )
})
