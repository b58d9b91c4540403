import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createNoticeStore } from '../../src/features/runs/notice-store.ts'
import {
  createRunQueue,
  createRunStore,
  type NewRun,
  type RunRow,
} from '../../src/features/runs/run-store.ts'
import type { Db, Statement } from '../../src/storage/db.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'

function emptyFile(): Database {
  const file = new Database(':memory:')
  for (const { sql } of MIGRATIONS) file.run(sql)
  return file
}

/** What SQLite does in each step of a statement. */
const planOf = (file: Database, { sql, args }: Statement) =>
  file
    .query<{ detail: string }, (typeof args)[number][]>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...args)
    .map(({ detail }) => detail)

/** Indexes whose entries grow with the days for which runs and notices are kept. */
const GROWING = /run_by_tenant|run_by_schedule |SCAN (run|notice)$/

test('no step of what is counted, begun and swept reads all that has ended', async () => {
  using file = emptyFile()
  const statements: Statement[] = []
  const note = async (statement: Statement) => {
    statements.push(statement)
    return { changes: 1 }
  }
  const db = { run: note, all: note } as unknown as Db
  const run = { id: 'r', tenant_id: 't', schedule_id: 's', session_id: 'sch-s-T', ask: {} }
  const queue = createRunQueue(db)
  await queue.due(0, 2)
  await queue.claim(run as unknown as RunRow, 'h', 0, 0, 2)
  await queue.abandoned(0, false)
  await createRunStore(db).prune(0)
  await createNoticeStore(db).prune(0, 0)
  await createRunStore(db).insert({ ...run, webhook_ids: [] } as unknown as NewRun, {
    runs: 1,
    bytes: 1,
  })
  expect(statements).toHaveLength(6)
  for (const statement of statements) {
    const steps = planOf(file, statement)
    expect(steps.filter((step) => GROWING.test(step))).toEqual([])
  }
})

test('what a run asks, which may be long, stands behind all that is looked at each second', () => {
  using file = emptyFile()
  const columns = file.query<{ name: string }, []>("SELECT name FROM pragma_table_info('run')")
  expect(columns.all().at(-1)?.name).toBe('request')
})
