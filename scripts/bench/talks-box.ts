import { DAY_MS, systemClock } from '../../src/core/clock.ts'
import { databasePath } from '../../src/data-folder/data-folder.ts'
import { createLogStore } from '../../src/features/logs/store.ts'
import { createConversationStore } from '../../src/features/sessions/conversation-store.ts'
import { createConversations } from '../../src/features/sessions/conversations.ts'
import { createIndexing } from '../../src/features/sessions/indexing.ts'
import { createIndexingStore } from '../../src/features/sessions/indexing-store.ts'
import { prepareRuntime } from '../../src/native/runtime.ts'
import { type Db, type Statement, sql } from '../../src/storage/db.ts'
import { createLocalState } from '../../src/storage/local-state.ts'
import { createReader, openPostgres } from '../../src/storage/postgres/db.ts'
import { createTurnIndex as createGinIndex } from '../../src/storage/postgres/turn-words.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { createReadThread } from '../../src/storage/sqlite/read-thread.ts'
import { createTurnIndex } from '../../src/storage/sqlite/turn-words.ts'

/** What a box holds: one tenant's turns, twice as many log rows, and other tenants. */
export interface Box {
  readonly turns: number
  readonly dataDir: string
  /** Null: a file in the folder. */
  readonly databaseUrl: string | null
}

const TURNS_PER_SESSION = 10
const OTHER_TENANTS = 2_000
/** Rows of one statement. */
const ROWS = 2_000
const LOG_DAYS = 7

/** Rare words: each stands in one turn of so many. */
const RARE_EVERY = 40_000
const VOCABULARY = 20_000
const CHARACTERS = 2_500

/** Pseudo-random numbers from 0 up to 1, the same in every run. */
function randomNumbers() {
  let state = 12_345
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A word by its rank: frequent ones are short, as in any language. */
export function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / 20)) {
    word += 'tnshrdlcmwfgypbvkjxq'[left % 20] ?? ''
    word += 'eaiou'[left % 5] ?? ''
  }
  return word
}

const characterOf = (rank: number) => String.fromCodePoint(0x4e00 + 7 * rank)

/** The texts of turns: words by Zipf's law; every fifth turn is Chinese. */
function writer() {
  const random = randomNumbers()
  const ranked = (count: number) => Math.floor(count ** random()) - 1
  const words = (count: number) =>
    Array.from({ length: count }, () => wordOf(ranked(VOCABULARY))).join(' ')
  const characters = (count: number) =>
    Array.from({ length: count }, () => characterOf(ranked(CHARACTERS))).join('')
  return (at: number) => {
    const rare = at % RARE_EVERY === 7 ? ' zanzibar' : at % RARE_EVERY === 11 ? ' zeppelin' : ''
    const both = at % (4 * RARE_EVERY) === 13 ? ' zanzibar zeppelin' : ''
    const chinese = at % RARE_EVERY === 15 ? `${characters(8)}鲸鱼歌唱` : characters(24)
    const asked = at % 5 === 0 ? chinese : `${words(12)}${rare}${both}`
    return { asked, answered: at % 5 === 0 ? characters(60) : words(40) }
  }
}

const threadOf = (name: string) =>
  new URL(`../../src/storage/sqlite/${name}.ts`, import.meta.url).href

/** The database of a stopped server; what is stored goes past the server's own rules. */
async function open({ dataDir, databaseUrl }: Pick<Box, 'dataDir' | 'databaseUrl'>) {
  if (databaseUrl !== null) {
    const db = openPostgres({ url: databaseUrl, clock: systemClock() })
    const reader = createReader(db)
    return { db, reader, index: createGinIndex(reader), close: db.close }
  }
  const { vec0 } = await prepareRuntime(dataDir)
  const file = { path: databasePath(dataDir), extensions: [vec0] }
  const db = await openSqlite(file, threadOf('writer'))
  const reader = createReadThread(file, threadOf('reader'))
  const close = async () => {
    await reader.close()
    await db.close()
  }
  return { db, reader, index: createTurnIndex(reader), close }
}

/** The search of conversations, which people alone have. */
export async function openSearch(box: Pick<Box, 'dataDir' | 'databaseUrl'>) {
  const { db, reader, index, close } = await open(box)
  const tenant = await db.get<{ id: string }>(sql`SELECT id FROM tenant ORDER BY created_at DESC`)
  const store = createConversationStore({ db, reader, index })
  const leases = createLocalState(systemClock()).leases
  const stored = createIndexingStore({ db, index })
  const indexing = createIndexing({ store: stored, leases, clock: systemClock() })
  const conversations = createConversations({ store, index, indexing })
  const marks = {
    folder: null,
    archived: null,
    appId: null,
    deviceId: null,
  }
  const scope = { tenantId: tenant?.id ?? '', userId: null, seesOthers: true, kind: null }
  return {
    find: (q: string) => conversations.list(scope, { q, marks, place: null, limit: 50 }),
    [Symbol.asyncDispose]: close,
  }
}

/** Fills the tenant of the only key. Resolves with how many turns were indexed a second. */
export async function fillBox(box: Box): Promise<number> {
  const { db, index, close } = await open(box)
  try {
    const tenant = await db.get<{ id: string }>(sql`SELECT id FROM tenant LIMIT 1`)
    if (!tenant) throw new Error('there is no tenant')
    await insertOthers(db)
    await insertTurns(db, tenant.id, box.turns)
    await insertLogs(db, tenant.id, 2 * box.turns)
    const begin = performance.now()
    const store = createIndexingStore({ db, index })
    while ((await store.round(null)).waited > 0);
    if (box.databaseUrl !== null) await analyze(db)
    return (box.turns / (performance.now() - begin)) * 1_000
  } finally {
    await close()
  }
}

/** What autovacuum does in a minute. */
async function analyze(db: Db): Promise<void> {
  for (const table of ['session', 'turn', 'turn_word', 'request_log', 'request_log_count']) {
    await db.run({ sql: `ANALYZE ${table}`, args: [] })
  }
}

async function insertOthers(db: Db): Promise<void> {
  const rows = Array.from({ length: OTHER_TENANTS }, (_, i) => [`other-${i}`])
  await db.run(sql`
    INSERT INTO tenant (id, created_at) SELECT r.value ->> 0, '2026-01-01T00:00:00.000Z'
    FROM json_each(${JSON.stringify(rows)}) r`)
}

async function insertTurns(db: Db, tenantId: string, turns: number): Promise<void> {
  const write = writer()
  const now = Date.now()
  for (let from = 0; from < turns; from += ROWS) {
    const sessions: unknown[] = []
    const rows: unknown[] = []
    for (let at = from; at < from + ROWS; at++) {
      const time = new Date(now - (turns - at) * 1_000).toISOString()
      const session = `talk-${Math.floor(at / TURNS_PER_SESSION)}`
      const { asked, answered } = write(at)
      if (at % TURNS_PER_SESSION === 0) sessions.push([session, time])
      rows.push([session, 1 + (at % TURNS_PER_SESSION), asked, answered, time])
    }
    await db.batch([insertSessions(tenantId, sessions), insertRows(tenantId, rows)])
  }
}

const insertSessions = (tenantId: string, sessions: readonly unknown[]): Statement => sql`
  INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, index_below)
  SELECT ${tenantId}, r.value ->> 0, ${TURNS_PER_SESSION}, r.value ->> 1, r.value ->> 1, 16777216
  FROM json_each(${JSON.stringify(sessions)}) r`

const insertRows = (tenantId: string, rows: readonly unknown[]): Statement => sql`
  INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at)
  SELECT ${tenantId}, r.value ->> 0, CAST(r.value ->> 1 AS BIGINT), r.value ->> 2, r.value ->> 3,
    r.value ->> 4
  FROM json_each(${JSON.stringify(rows)}) r`

/** One row in fifty is a refusal, one in five hundred a failure. */
const statusOf = (at: number) => (at % 500 === 3 ? 502 : at % 50 === 1 ? 429 : 200)

async function insertLogs(db: Db, tenantId: string, rows: number): Promise<void> {
  const random = randomNumbers()
  const store = createLogStore(db, { all: async () => [] })
  const [first, step] = [Date.now() - LOG_DAYS * DAY_MS, (LOG_DAYS * DAY_MS) / rows]
  const NOTHING = { appId: null, deviceId: null, keyId: null, errorClass: null, channel: null }
  for (let from = 0; from < rows; from += ROWS) {
    const written = Array.from({ length: ROWS }, (_, i) => ({
      ...NOTHING,
      id: `log-${from + i}`,
      tenantId,
      ts: Math.floor(first + step * (from + i)),
      endpoint: '/v1/agent',
      status: statusOf(from + i),
      latencyMs: Math.floor(10 + 3_000 * random() ** 4),
      sessionId: `talk-${Math.floor((from + i) / 20)}`,
      textChars: 20,
      firstMs: null,
      totalMs: null,
      isTaken: false,
    }))
    await store.write(written)
  }
}
