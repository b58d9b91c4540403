import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createListStore } from '../../src/features/knowledge/sources/list-store.ts'
import { createNoticeStore } from '../../src/features/runs/notice-store.ts'
import { createRunQueue } from '../../src/features/runs/queue-store.ts'
import { createRunStore, type NewRun, type RunRow } from '../../src/features/runs/run-store.ts'
import { createBranchStore } from '../../src/features/sessions/branch-store.ts'
import {
  type ConversationStoreOptions,
  createConversationStore,
} from '../../src/features/sessions/conversation-store.ts'
import { createDeliveryStore } from '../../src/features/webhooks/delivery-store.ts'
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

/** Indexes whose entries grow with the days for which runs, notices and deliveries are kept. */
const GROWING = /run_by_tenant|run_by_schedule |delivery_by_|SCAN (run|notice|webhook_delivery)$/

test('no step of what is counted, begun and swept reads all that has ended', async () => {
  using file = emptyFile()
  const statements: Statement[] = []
  const note = async (statement: Statement) => {
    statements.push(statement)
    return { changes: 1 }
  }
  const db = {
    run: note,
    all: note,
    batch: (some: readonly Statement[]) => Promise.all(some.map(note)),
  } as unknown as Db
  const run = { id: 'r', tenant_id: 't', schedule_id: 's', session_id: 'sch-s-T', ask: {} }
  const queue = createRunQueue(db)
  await queue.due(0, 2)
  await queue.claim(run as unknown as RunRow, 'h', 0, 0, 2)
  await queue.abandoned(0, false)
  await createRunStore(db).prune(0)
  await createNoticeStore(db).prune(0)
  await createNoticeStore(db).pruneUnheard(0)
  await createRunStore(db).insert({ ...run, webhook_ids: [] } as unknown as NewRun, {
    runs: 1,
    bytes: 1,
  })
  await createRunStore(db).cancel('t', 'r', 0)
  await createDeliveryStore(db).due(0, 1)
  expect(statements).toHaveLength(11)
  for (const statement of statements) {
    const steps = planOf(file, statement)
    expect(steps.filter((step) => GROWING.test(step))).toEqual([])
  }
})

test('what concerns the versions of a conversation reads no other one of the tenant', async () => {
  using file = emptyFile()
  const statements: Statement[] = []
  const note = async (statement: Statement) => {
    statements.push(statement)
    return []
  }
  const db = { run: note, all: note } as unknown as Db
  const [reader, index] = [db, { put: (): Statement => ({ sql: '', args: [] }) }]
  await createBranchStore(db).versions('t', 's')
  const parts = { db, reader, index } as unknown as ConversationStoreOptions
  await createConversationStore(parts).mark('t', 's', { pinned: true })
  expect(statements).toHaveLength(2)
  for (const statement of statements) {
    const steps = planOf(file, statement)
    expect(steps.filter((step) => /SCAN session|\(tenant_id=\?\)/.test(step))).toEqual([])
  }
})

test('what a run asks, which may be long, is not written anew with each change of the run', () => {
  using file = emptyFile()
  const columns = file.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  const names = (table: string) => columns.all(table).map(({ name }) => name)
  expect(names('run')).not.toContain('ask')
  expect(names('run_ask')).toEqual(['run_id', 'ask'])
})

test('a list of sources reads the documents of each and of no other', async () => {
  using file = emptyFile()
  const statements: Statement[] = []
  const all = async (statement: Statement) => {
    statements.push(statement)
    return []
  }
  await createListStore({ all } as unknown as Db).list({ tenantId: 't', collections: null }, 0)
  const steps = statements.flatMap((statement) => planOf(file, statement))
  expect(steps.filter((step) => step.includes('kb_doc'))).toEqual([
    'SEARCH d USING INDEX kb_doc_by_source (source_id=?)',
  ])
})
