import { systemClock } from '../../src/core/clock.ts'
import { databasePath } from '../../src/data-folder/data-folder.ts'
import { indexWords } from '../../src/features/sessions/conversation-search.ts'
import { createIndexingStore, EVERY_TURN } from '../../src/features/sessions/indexing-store.ts'
import { prepareRuntime } from '../../src/native/runtime.ts'
import { type Db, type Statement, sql } from '../../src/storage/db.ts'
import { createReader, openPostgres } from '../../src/storage/postgres/db.ts'
import { createTurnIndex as createGinIndex } from '../../src/storage/postgres/turn-words.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { createReadThread } from '../../src/storage/sqlite/read-thread.ts'
import { createTurnIndex } from '../../src/storage/sqlite/turn-words.ts'
import { wordHashes } from '../../src/storage/word-hashes.ts'
import { askPostgres } from '../../test/support/postgres-client.ts'
import { insertRecords } from './box-records.ts'
import { writer } from './talk-texts.ts'

/** Where a box is, and how much of it: turns of one tenant, and what belongs to them. */
export interface BoxPlan {
  readonly turns: number
  readonly dataDir: string
  /** Null: a file in the folder. */
  readonly databaseUrl: string | null
  readonly tenantId: string
}

const TURNS_PER_SESSION = 10
/** Rows of one statement. */
const ROWS = 2_000
/** The last turns are indexed as the server does it, by which its speed is measured. */
const MEASURED_TURNS = 10_000

const threadOf = (name: string) =>
  new URL(`../../src/storage/sqlite/${name}.ts`, import.meta.url).href

/** The database of a stopped server; what is stored goes past the server's own rules. */
async function open({ dataDir, databaseUrl }: BoxPlan) {
  if (databaseUrl !== null) {
    const db = openPostgres({ url: databaseUrl, clock: systemClock() })
    const list = (hashes: readonly number[]) => `{${hashes.join(',')}}`
    return { db, index: createGinIndex(createReader(db)), list, close: db.close }
  }
  const { vec0 } = await prepareRuntime(dataDir)
  const file = { path: databasePath(dataDir), extensions: [vec0] }
  const db = await openSqlite(file, threadOf('writer'))
  const reader = createReadThread(file, threadOf('reader'))
  const list = (hashes: readonly number[]) => hashes.map((hash) => hash.toString(36)).join(' ')
  const close = async () => {
    await reader.close()
    await db.close()
  }
  return { db, index: createTurnIndex(reader), list, close }
}

/** Fills the tenant. Resolves with how many turns the server indexes a second at this size. */
export async function fillBox(plan: BoxPlan): Promise<number> {
  const { db, index, list, close } = await open(plan)
  const { databaseUrl } = plan
  try {
    // Building it once takes a fraction of the time of adding to it a hundred million times.
    if (databaseUrl !== null) await askPostgres(databaseUrl, 'DROP INDEX turn_word_by_word')
    const hashesOf = (texts: string[]) => list(wordHashes(plan.tenantId, indexWords(texts)))
    await insertTurns(db, plan, databaseUrl !== null ? INSERT_ARRAYS : INSERT_TERMS, hashesOf)
    if (databaseUrl !== null) await askPostgres(databaseUrl, INDEX_WORDS)
    await insertRecords(db, plan.tenantId, 2 * plan.turns)
    const begin = performance.now()
    const store = createIndexingStore({ db, index })
    while ((await store.round(null)).waited > 0);
    const seconds = (performance.now() - begin) / 1_000
    // What autovacuum does in a minute.
    if (databaseUrl !== null) await askPostgres(databaseUrl, 'ANALYZE')
    return Math.min(plan.turns, MEASURED_TURNS) / seconds
  } finally {
    await close()
  }
}

const INDEX_WORDS = `SET maintenance_work_mem = '1GB';
  CREATE INDEX turn_word_by_word ON turn_word USING gin (words) WITH (fastupdate = off)`

type Insert = (tenantId: string, words: readonly unknown[]) => Statement

const INSERT_TERMS: Insert = (tenantId, words) => sql`
  INSERT INTO turn_word (rowid, terms)
  SELECT s.num * 16777216 + CAST(r.value ->> 1 AS BIGINT), r.value ->> 2
  FROM json_each(${JSON.stringify(words)}) r CROSS JOIN session s
  WHERE s.tenant_id = ${tenantId} AND s.id = r.value ->> 0`

const INSERT_ARRAYS: Insert = (tenantId, words) => sql`
  INSERT INTO turn_word (num, seq, words)
  SELECT s.num, CAST(r.value ->> 1 AS BIGINT), (r.value ->> 2)::bigint[]
  FROM json_each(${JSON.stringify(words)}) r CROSS JOIN session s
  WHERE s.tenant_id = ${tenantId} AND s.id = r.value ->> 0`

async function insertTurns(
  db: Db,
  { tenantId, turns }: BoxPlan,
  insertWords: Insert,
  hashesOf: (texts: string[]) => string,
): Promise<void> {
  const write = writer()
  const now = Date.now()
  let storing: Promise<unknown> = Promise.resolve()
  for (let from = 0; from < turns; from += ROWS) {
    const waits = from >= turns - MEASURED_TURNS
    const sessions: unknown[] = []
    const rows: unknown[] = []
    const words: unknown[] = []
    for (let at = from; at < Math.min(from + ROWS, turns); at++) {
      const time = new Date(now - (turns - at) * 500).toISOString()
      const session = `talk-${Math.floor(at / TURNS_PER_SESSION)}`
      const seq = 1 + (at % TURNS_PER_SESSION)
      const { asked, answered } = write(at)
      if (seq === 1) sessions.push([session, time, waits ? EVERY_TURN : 0])
      rows.push([session, seq, asked, answered, time])
      if (!waits) words.push([session, seq, hashesOf([asked, answered])])
    }
    // The next ones are written while these are stored.
    await storing
    storing = db.batch([
      insertSessions(tenantId, sessions),
      insertRows(tenantId, rows),
      insertWords(tenantId, words),
    ])
  }
  await storing
}

const insertSessions = (tenantId: string, sessions: readonly unknown[]): Statement => sql`
  INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, index_below)
  SELECT ${tenantId}, r.value ->> 0, ${TURNS_PER_SESSION}, r.value ->> 1, r.value ->> 1,
    CAST(r.value ->> 2 AS BIGINT)
  FROM json_each(${JSON.stringify(sessions)}) r`

const insertRows = (tenantId: string, rows: readonly unknown[]): Statement => sql`
  INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at)
  SELECT ${tenantId}, r.value ->> 0, CAST(r.value ->> 1 AS BIGINT), r.value ->> 2, r.value ->> 3,
    r.value ->> 4
  FROM json_each(${JSON.stringify(rows)}) r`
