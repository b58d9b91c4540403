import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { type Db, expectRows, NotAsExpected, sql, storedAsExpected } from '../../src/storage/db.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { startPostgres } from '../support/postgres.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const WRITER = new URL('../../src/storage/sqlite/writer.ts', import.meta.url).href
const SCHEMA = {
  name: '0001-items',
  sql: `CREATE TABLE item (id TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT;
    CREATE TABLE part (item_id TEXT NOT NULL REFERENCES item (id)) STRICT;`,
}

const COLUMNS = {
  ...SCHEMA,
  sql: SCHEMA.sql.replaceAll(' STRICT', '').replaceAll('INTEGER', 'BIGINT'),
}

function openFile(folder: TempFolder): Promise<Db> {
  const file = { path: folder.file('test.db'), extensions: [] }
  migrate(file, [SCHEMA], 'stamp')
  return openSqlite(file, WRITER, ['item'])
}

/** Every adapter of the `Db` port keeps this contract. */
const ADAPTERS = [
  {
    name: 'sqlite',
    open: openFile,
  },
  {
    name: 'postgres',
    async open(): Promise<Db> {
      const { url } = await startPostgres()
      const clock = systemClock()
      await migratePostgres({ url, clock, migrations: [COLUMNS] })
      return openPostgres({ url, clock })
    },
  },
]

for (const adapter of ADAPTERS) {
  describe(adapter.name, () => {
    let folder: TempFolder
    let db: Db
    beforeAll(async () => {
      folder = tempFolder()
      db = await adapter.open(folder)
    })
    afterAll(async () => {
      await db.close()
      folder[Symbol.dispose]()
    })
    const put = (id: string, n: number) => sql`INSERT INTO item (id, n) VALUES (${id}, ${n})`
    const ids = async () =>
      (await db.all<{ id: string }>(sql`SELECT id FROM item ORDER BY id`)).map(({ id }) => id)

    test('a read sees what was acknowledged before', async () => {
      expect(await db.run(put('a', 1))).toEqual({ changes: 1 })
      expect(await db.get<{ n: number }>(sql`SELECT n FROM item WHERE id = ${'a'}`)).toEqual({
        n: 1,
      })
    })

    test('a read of missing rows gives null and an empty list', async () => {
      expect(await db.get(sql`SELECT n FROM item WHERE id = ${'nobody'}`)).toBeNull()
      expect(await db.all(sql`SELECT n FROM item WHERE id = ${'nobody'}`)).toEqual([])
    })

    test('a batch reports the changes of each statement', async () => {
      const results = await db.batch([
        put('b', 1),
        put('c', 1),
        sql`UPDATE item SET n = 2`,
        sql`DELETE FROM item WHERE id = ${'nobody'}`,
      ])
      expect(results.map(({ changes }) => changes)).toEqual([1, 1, 3, 0])
    })

    test('a batch is applied whole or not at all', async () => {
      const before = await ids()
      await expect(db.batch([put('d', 1), put('a', 1)])).rejects.toThrow()
      await expect(db.batch([put('e', 1), sql`NOT SQL`])).rejects.toThrow()
      expect(await ids()).toEqual(before)
    })

    test('a failing batch fails alone among many concurrent ones', async () => {
      const batches = Array.from({ length: 40 }, (_, i) =>
        db.batch([put(`group-${i}`, i), ...(i % 10 === 3 ? [put('a', 0)] : [])]),
      )
      const settled = await Promise.allSettled(batches)
      const failed = settled.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))
      expect(failed).toEqual([3, 13, 23, 33])
      const written = (await ids()).filter((id) => id.startsWith('group-'))
      expect(written).toHaveLength(36)
    })

    test('exactly one of many conditional writers wins', async () => {
      await db.run(put('contested', 0))
      const results = await Promise.all(
        Array.from({ length: 50 }, () =>
          db.run(sql`UPDATE item SET n = 1 WHERE id = ${'contested'} AND n = 0`),
        ),
      )
      expect(results.filter(({ changes }) => changes === 1)).toHaveLength(1)
    })

    test('foreign keys are enforced', async () => {
      await expect(db.run(sql`INSERT INTO part (item_id) VALUES (${'x'})`)).rejects.toThrow()
    })

    test('the database stores text of every kind, numbers, null and bytes', async () => {
      const values = ['', '中文 😀', "'; --", 0, -1, 2 ** 40, 1.5, null]
      for (const value of values) {
        expect(await db.get<{ v: unknown }>(sql`SELECT ${value} AS v`)).toEqual({ v: value })
      }
      // PostgreSQL has no NUL in text; the sign for an unknown character stands for it in both.
      expect(await db.get<{ v: unknown }>(sql`SELECT ${'a\u0000b'} AS v`)).toEqual({
        v: 'a\ufffdb',
      })
      await db.run(put('c\u0000d', 1))
      expect(await ids()).toContain('c\ufffdd')
      const bytes = new Uint8Array([0, 255, 7])
      expect(await db.get<{ v: unknown }>(sql`SELECT ${bytes} AS v`)).toEqual({ v: bytes })
    })

    test('a batch that does not change the rows it expects leaves nothing behind', async () => {
      const before = await ids()
      const nobody = sql`DELETE FROM item WHERE id = ${'nobody'}`
      const failing = [
        db.batch([put('f', 1), expectRows(1, nobody), put('g', 1)]),
        db.run(expectRows(2, put('f', 1))),
      ]
      const errors = (await Promise.allSettled(failing)).map((one) =>
        one.status === 'rejected' ? one.reason : null,
      )
      expect(errors).toEqual([new NotAsExpected(1), new NotAsExpected(0)])
      expect(errors.map(({ index }) => index)).toEqual([1, 0])
      expect(await ids()).toEqual(before)
    })

    test('an unmet expectation counts, also when a statement fails because of it', async () => {
      const failing = db.batch([
        expectRows(1, sql`INSERT INTO item (id, n) SELECT ${'none'}, 1 WHERE 1 = ${0}`),
        sql`INSERT INTO part (item_id) VALUES (${'none'})`,
      ])
      await expect(failing).rejects.toThrow(NotAsExpected)
      expect(await ids()).not.toContain('none')
      // The fault of a statement before it is a fault.
      const faulty = db.batch([
        sql`INSERT INTO part (item_id) VALUES (${'none'})`,
        expectRows(1, sql`DELETE FROM item WHERE id = ${'none'}`),
      ])
      await expect(faulty).rejects.not.toBeInstanceOf(NotAsExpected)
    })

    test('a batch that changes the rows it expects is stored', async () => {
      const [first, second] = await db.batch([
        expectRows(1, put('expected', 1)),
        expectRows(0, sql`DELETE FROM item WHERE id = ${'nobody'}`),
      ])
      expect([first, second]).toEqual([{ changes: 1 }, { changes: 0 }])
      expect(await ids()).toContain('expected')
    })

    test('a batch with an unmet expectation fails alone in its group', async () => {
      const nobody = expectRows(1, sql`UPDATE item SET n = 9 WHERE id = ${'nobody'}`)
      const stored = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          storedAsExpected(db.batch([put(`expecting-${i}`, i), ...(i % 10 === 3 ? [nobody] : [])])),
        ),
      )
      expect(stored.flatMap((done, i) => (done ? [] : [i]))).toEqual([3, 13, 23, 33])
      const written = (await ids()).filter((id) => id.startsWith('expecting-'))
      expect(written).toHaveLength(36)
    })

    test('a database error is thrown although the batch has an expectation', async () => {
      const wrong = db.batch([expectRows(1, put('h', 1)), sql`NOT SQL`])
      await expect(storedAsExpected(wrong)).rejects.toThrow('syntax error')
    })

    describe('a row that is kept in memory', () => {
      const read = (id: string) => db.get<{ n: number }>(sql`SELECT n FROM item WHERE id = ${id}`)

      test('a cached row is read again after each acknowledged write', async () => {
        await db.run(put('kept', 1))
        expect(await read('kept')).toEqual({ n: 1 })
        for (let n = 2; n < 50; n++) {
          const write = db.run(sql`UPDATE item SET n = ${n} WHERE id = ${'kept'}`)
          // A read that overlaps the write may see either; it must not be what later reads see.
          await read('kept')
          await write
          expect(await read('kept')).toEqual({ n })
        }
      })

      test('a cached row is removed and added with its row', async () => {
        expect(await read('later')).toBeNull()
        await db.batch([sql`DELETE FROM part`, put('later', 7)])
        expect(await read('later')).toEqual({ n: 7 })
        await db.batch([sql`DELETE FROM part`, sql`DELETE FROM item WHERE id = ${'later'}`])
        expect(await read('later')).toBeNull()
      })

      test('cached rows differ by every argument', async () => {
        await db.run(put('any', 1))
        const pair = (a: string, b: string | null) =>
          db.get<{ a: string; b: string | null }>(
            sql`SELECT ${a} AS a, ${b} AS b FROM item WHERE id = ${'any'}`,
          )
        const pairs = [
          ['x', 'y'],
          ['x","y', ''],
          ['x', 'y","'],
          ['x', null],
          ['x', 'null'],
        ] as const
        for (const [a, b] of [...pairs, ...pairs]) expect(await pair(a, b)).toEqual({ a, b })
      })

      test('a cached row that joins a frequently written table is read again', async () => {
        const joined = () =>
          db.get<{ parts: number }>(sql`
            SELECT count(p.item_id) AS parts FROM item i LEFT JOIN part p ON p.item_id = i.id
            WHERE i.id = ${'whole'}`)
        await db.run(put('whole', 1))
        expect(await joined()).toEqual({ parts: 0 })
        await db.run(sql`INSERT INTO part (item_id) VALUES (${'whole'})`)
        expect(await joined()).toEqual({ parts: 1 })
        await db.run(sql`DELETE FROM part`)
      })
    })
  })
}

describe('sqlite alone', () => {
  let folder: TempFolder
  let db: Db
  beforeAll(async () => {
    folder = tempFolder()
    db = await openFile(folder)
  })
  afterAll(async () => {
    await db.close()
    folder[Symbol.dispose]()
  })

  test('batches are applied in order', async () => {
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        db.batch([
          sql`INSERT INTO item (id, n) VALUES (${'last'}, ${i})
          ON CONFLICT (id) DO UPDATE SET n = excluded.n`,
        ]),
      ),
    )
    const row = await db.get<{ n: number }>(sql`SELECT n FROM item WHERE id = ${'last'}`)
    expect(row?.n).toBe(299)
  })

  test('the reading side refuses writes', async () => {
    await expect(db.all(sql`DELETE FROM item RETURNING id`)).rejects.toThrow()
  })
})

describe('closing', () => {
  test('closing the database writes what waits, then refuses more', async () => {
    using folder = tempFolder()
    const [adapter] = ADAPTERS
    const db = await adapter?.open(folder)
    const pending = db?.run(sql`INSERT INTO item (id, n) VALUES (${'late'}, ${1})`)
    await db?.close()
    expect(await pending).toEqual({ changes: 1 })
    await expect(db?.run(sql`DELETE FROM item`) ?? null).rejects.toThrow()
  })
})
