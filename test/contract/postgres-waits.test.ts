import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { DatabaseAway } from '../../src/core/errors.ts'
import { createUsageStore } from '../../src/features/usage/store.ts'
import { locked, sql } from '../../src/storage/db.ts'
import { openConnection } from '../../src/storage/postgres/connection.ts'
import { createReader, openPostgres } from '../../src/storage/postgres/db.ts'
import { startApp } from '../support/app.ts'
import { kbClient } from '../support/kb.ts'
import { hasPostgres, postgresSettings, startPostgres } from '../support/postgres.ts'
import { tempFolder } from '../support/temp.ts'

const clock = systemClock()
/** A clock on which ten seconds are over in a hundredth of one. */
const hurried = { ...clock, after: (ms: number, task: () => void) => clock.after(ms / 1000, task) }

/** PGlite has one session, so nothing there waits for anything. */
describe.skipIf(!hasPostgres())('on a server of its own', () => {
  let pg: Awaited<ReturnType<typeof startPostgres>>
  let db: ReturnType<typeof openPostgres>
  beforeAll(async () => {
    pg = await startPostgres('all')
    db = openPostgres({ url: pg.url, clock })
  })
  afterAll(async () => {
    await db.close()
    await pg[Symbol.asyncDispose]()
  })

  /** How many backends are in this state; asked on a connection of its own. */
  async function backends(where: string, url = pg.url): Promise<number> {
    await using watch = watcher(url)
    const [row] = await watch.ask<{ n: number }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND
        pid <> pg_backend_pid() AND ${where}`,
    )
    return row?.n ?? -1
  }
  const SLEEPS = "state = 'active' AND query LIKE '%pg_sleep(600)%'"
  const sleep = sql`SELECT pg_sleep(600) AS slept`

  describe('a lock', () => {
    test('a tenant that holds its lock does not delay the document of another', async () => {
      using folder = tempFolder()
      const settings = await postgresSettings(folder.path)
      const url = settings.MB_DATABASE_URL
      const env = { ...settings, MB_DATA_DIR: folder.path }
      await using app = await startApp({ env })
      await using second = await startApp({ env })
      const [slow, quick] = [await app.key('slow@example.com'), await app.key('quick@example.com')]
      const [one, other] = [kbClient(() => app.url), kbClient(() => second.url)]
      await using holder = watcher(url)
      await holder.ask('BEGIN')
      await holder.ask(`SELECT 1 FROM tenant WHERE id = '${slow.tenantId}' FOR UPDATE`)
      const waiting = Array.from({ length: 25 }, (_, i) => one.add(slow, `t${i}`, 'a text'))
      const stuck = "wait_event_type = 'Lock' AND query LIKE '%INSERT INTO kb_doc%'"
      while ((await backends(stuck, url)) === 0);
      expect((await other.add(quick, 'title', 'a text')).status).toBe(201)
      expect((await one.add(quick, 'title', 'a text')).status).toBe(201)
      // The others wait for the first one without a connection.
      expect(await backends(stuck, url)).toBe(1)
      await holder.ask('ROLLBACK')
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(25).fill(201))
    })

    test('that another program keeps is no fault of the row that waits for it', async () => {
      await using holder = watcher(pg.url)
      await holder.ask('CREATE TABLE kept_note (id TEXT PRIMARY KEY)')
      await holder.ask('BEGIN; LOCK TABLE kept_note IN SHARE MODE')
      const impatient = new URL(pg.url)
      impatient.searchParams.set('options', '-c lock_timeout=50ms')
      const one = openPostgres({ url: impatient.href, clock })
      const insert = sql`INSERT INTO kept_note (id) VALUES (${'a'})`
      expect(await one.run(insert).catch((error) => error)).toBeInstanceOf(DatabaseAway)
      // The database is there.
      expect(one.takesWrites()).toBe(true)
      await holder.ask('ROLLBACK')
      expect(await one.run(insert)).toEqual({ changes: 1 })
      const wrong = await one.run(insert).catch((error) => error)
      expect(wrong).not.toBeInstanceOf(DatabaseAway)
      await one.close()
    })

    test('of two servers one decides at a time, by what the other has stored', async () => {
      const other = openPostgres({ url: pg.url, clock })
      await using holder = watcher(pg.url)
      // Each insertion has counted before it waits for this lock.
      await holder.ask(`
        CREATE TABLE lock_note (id TEXT PRIMARY KEY);
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$;
        CREATE TRIGGER waits BEFORE INSERT ON lock_note FOR EACH ROW EXECUTE FUNCTION wait()`)
      await holder.ask('BEGIN; SELECT pg_advisory_xact_lock(7)')
      const limited = (id: string) => locked('lock_note', 't')`
        INSERT INTO lock_note (id) SELECT ${id} WHERE (SELECT count(*) FROM lock_note) < ${3}`
      const tries = Array.from({ length: 10 }, (_, i) => (i % 2 ? db : other).run(limited(`n${i}`)))
      while ((await backends("wait_event_type = 'Lock'")) < 2);
      await holder.ask('ROLLBACK')
      const stored = (await Promise.all(tries)).filter(({ changes }) => changes === 1)
      expect(stored).toHaveLength(3)
      await other.close()
    })

    test('two servers add to the same sums in any order without a deadlock', async () => {
      const other = openPostgres({ url: pg.url, clock })
      await db.run(sql`INSERT INTO tenant (id, created_at) VALUES (${'sums'}, ${'2026'})`)
      const sums = Array.from({ length: 60 }, (_, i) => ({
        ...{ tenantId: 'sums', day: 1, keyId: `k${i}`, appId: `a${i}`, channel: '' as const },
        ...{ source: 'api' as const, begun: 1 },
        ...{ calls: 1, inputTokens: 0, outputTokens: 0, usedAt: 1 },
      }))
      const [one, two] = [db, other].map((each, i) =>
        createUsageStore(each, createReader(db), `writer-${i}`),
      )
      const writes = Array.from({ length: 12 }, (_, i) => [
        one?.write(sums, i + 1, 1),
        two?.write(sums.toReversed(), i + 1, 1),
      ])
      await Promise.all(writes.flat())
      await using watch = watcher(pg.url)
      expect(
        await watch.ask(`SELECT sum(calls) AS calls, (SELECT deadlocks FROM pg_stat_database
          WHERE datname = current_database()) AS deadlocks FROM usage_day`),
      ).toEqual([{ calls: 12 * 2 * 60, deadlocks: 0 }])
      await other.close()
    })

    test('a statement with a lock is refused where no transaction keeps it', async () => {
      await expect(db.get(locked('a', 't')`SELECT 1 AS one`)).rejects.toThrow('needs a transaction')
    })
  })

  describe('a statement that nobody waits for', () => {
    test('a reading statement is stopped when its caller leaves', async () => {
      const reader = createReader(db)
      const leaving = new AbortController()
      const read = reader.all('t', sleep, leaving.signal)
      while ((await backends(SLEEPS)) === 0);
      leaving.abort(new Error('left'))
      await expect(read).rejects.toThrow('left')
      while ((await backends(SLEEPS)) > 0);
      expect(await db.trouble()).toBeNull()
      expect(await reader.all('t', sql`SELECT 1 AS one`)).toEqual([{ one: 1 }])
    })

    test('a statement is stopped when its time is over, and not sent again', async () => {
      const other = openPostgres({ url: pg.url, clock: hurried })
      const read = createReader(other).all('t', sleep)
      await expect(read).rejects.toBeInstanceOf(DatabaseAway)
      while ((await backends(SLEEPS)) > 0);
      await other.close()
    })

    test('the server itself ends a statement whose time is over, and stays usable', async () => {
      const settings = sql`SELECT current_setting('statement_timeout') AS statement,
        current_setting('client_connection_check_interval', true) AS there`
      expect(await db.get(settings)).toEqual({ statement: '30s', there: '5s' })
      expect(await createReader(db).all('t', settings)).toMatchObject([{ statement: '10s' }])
      const [slow] = await Promise.allSettled([
        db.batch([sql`SELECT set_config('statement_timeout', '1', true)`, sleep]),
      ])
      expect(slow).toMatchObject({ reason: { name: 'DatabaseAway', code: 'slow' } })
      expect([db.takesWrites(), await db.trouble()]).toEqual([true, null])
    })
  })

  test('tenants take turns where all connections are in use', async () => {
    const narrow = openPostgres({ url: pg.url, clock, connectionsMax: 1 })
    const order: string[] = []
    const read = (tenant: string) =>
      narrow
        .all(sql`SELECT id FROM app WHERE tenant_id = ${tenant}`)
        .then(() => void order.push(tenant))
    await Promise.all([...Array.from({ length: 40 }, () => read('loud')), read('quiet')])
    expect(order.indexOf('quiet')).toBeLessThan(3)
    await narrow.close()
  })
})

/** Asks by a connection of its own, in a transaction or not. */
function watcher(url: string) {
  const connection = openConnection({ url, clock })
  return {
    async ask<Row>(text: string): Promise<Row[]> {
      const [answer] = await connection.send([{ sql: text, args: [] }], 60_000)
      return (answer?.rows ?? []) as Row[]
    },
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
