import type { Database } from 'bun:sqlite'
import { indexTextsOf } from '../features/knowledge/index/index-text.ts'
import { keyOf } from '../features/knowledge/index/keys.ts'
import { termsOf } from '../features/knowledge/search/terms.ts'
import type { Spool } from '../features/knowledge/sources/reading.ts'
import { countAll } from '../features/logs/store.ts'
import { EVERY_TURN } from '../features/sessions/indexing-store.ts'
import { type Statement, sql, type Value } from '../storage/db.ts'
import type { VectorIndex, WordIndex } from '../storage/indexes.ts'
import { createSharedFiles } from '../storage/postgres/shared-state.ts'
import type { Progress, Step } from './progress.ts'

/** The tables to copy, each after those that its rows refer to. */
const TABLES = [
  ...['tenant', 'user', 'member', 'api_key', 'key_use', 'persona', 'app', 'tenant_settings'],
  ...['session', 'turn', 'talk_turn', 'talk_event', 'request_log', 'usage_day', 'usage_key_day'],
  ...['device', 'provider'],
  ...['kb_collection', 'kb_source', 'kb_doc', 'kb_chunk', 'kb_citation', 'mcp_server', 'mcp_tool'],
  'mcp_grant',
  ...['system_setting', 'audit', 'share', 'share_day', 'response_item', 'console_session'],
  ...[
    'chat_file',
    'session_file',
    'prompt',
    'schedule',
    'run',
    'run_ask',
    'notice',
    'picture',
    'session_picture',
  ],
  ...['passkey', 'signin_link', 'usage_person_day'],
  ...['app_version', 'feedback', 'usage_source_day', 'memory'],
  ...['webhook', 'webhook_delivery', 'run_trigger'],
  ...['ask_grant'],
  ...['scan_page'],
]
/** Tables that are not copied: made from others, or state of running servers. */
const INDEXES = [
  'kb_vector',
  'kb_word',
  'turn_word',
  'request_log_count',
  'usage_writer',
  'open_ask',
]

export type StoredRow = Readonly<Record<string, Value>>

/** Executes statements in the transaction of the copy; gives the rows of the last one. */
export type Execute = (statements: readonly Statement[]) => Promise<readonly unknown[]>

export interface Copy {
  readonly source: Database
  readonly execute: Execute
  readonly vectors: Pick<VectorIndex, 'upsert'>
  readonly words: Pick<WordIndex, 'upsert'>
  readonly progress: Progress
  /** The row as it is to be stored. */
  readonly change: (table: string, row: StoredRow) => StoredRow
}

/** Most rows and bytes of one portion. */
const ROWS_MAX = 500
const BYTES_MAX = 4 * 1024 * 1024

/** Groups rows into portions of bounded size. */
function* portions<Item extends StoredRow>(rows: Iterable<Item>): Generator<Item[]> {
  let portion: Item[] = []
  let bytes = 0
  for (const row of rows) {
    portion.push(row)
    for (const value of Object.values(row)) {
      if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
    }
    if (portion.length < ROWS_MAX && bytes < BYTES_MAX) continue
    yield portion
    portion = []
    bytes = 0
  }
  if (portion.length > 0) yield portion
}

function insert(table: string, row: StoredRow): Statement {
  const names = Object.keys(row).map((name) => `"${name}"`)
  const marks = names.map(() => '?')
  const text = `INSERT INTO "${table}" (${names.join(', ')}) VALUES (${marks.join(', ')})`
  return { sql: text, args: Object.values(row) }
}

const rowsOf = <Item extends StoredRow>(source: Database, text: string) =>
  source.query<Item, []>(text).iterate()

/** Tables of the source that are not in the lists above: a copy would be incomplete. */
export function unknownTables(source: Database): string[] {
  const names = source
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => name)
  const own = (name: string) => name === 'migration' || INDEXES.some((one) => name.startsWith(one))
  return names.filter((name) => !TABLES.includes(name) && !own(name))
}

/** The first table that has rows; null when the database is empty. */
export async function firstFilled(execute: Execute): Promise<string | null> {
  for (const table of TABLES) {
    const found = await execute([{ sql: `SELECT 1 AS one FROM "${table}" LIMIT 1`, args: [] }])
    if (found.length > 0) return table
  }
  return null
}

export async function emptyAll(execute: Execute): Promise<void> {
  const names = [...TABLES, ...INDEXES, 'shared_file'].map((name) => `"${name}"`).join(', ')
  await execute([{ sql: `TRUNCATE ${names}`, args: [] }])
}

/** The work of one row, in rows of an ordinary table: vectors are long, words are cut anew. */
const WEIGHTS: Readonly<Record<string, number>> = { kb_vector: 3, kb_word: 16 }

/** What `copyAll` will do, for the estimate of its time. */
export function stepsOf(source: Database): Step[] {
  const count = (table: string) =>
    source.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows ?? 0
  return [
    ...TABLES.map((name) => ({ name, rows: count(name), weight: WEIGHTS[name] ?? 1 })),
    { name: 'kb_vector', rows: count('kb_vector'), weight: WEIGHTS.kb_vector ?? 1 },
    { name: 'kb_word', rows: count('kb_chunk'), weight: WEIGHTS.kb_word ?? 1 },
  ]
}

/** Copies all rows, including vectors and words. Returns the number of rows by table. */
export async function copyAll(copy: Copy): Promise<ReadonlyMap<string, number>> {
  const { source, execute, change, progress } = copy
  const counts = new Map<string, number>()
  for (const table of TABLES) {
    let count = 0
    for (const rows of portions(rowsOf(source, `SELECT * FROM "${table}"`))) {
      await execute(rows.map((row) => insert(table, change(table, row))))
      count += rows.length
      progress.add(table, rows.length)
    }
    counts.set(table, count)
  }
  counts.set('kb_vector', await copyVectors(copy))
  await copyWords(copy)
  // The server indexes turns in the background.
  await execute([
    sql`UPDATE session SET index_from = 0, index_below = ${EVERY_TURN}`,
    countAll,
    sql`SELECT setval('session_num', (SELECT coalesce(max(num), 0) + 1 FROM session), false)`,
    sql`SELECT setval('kb_doc_num', (SELECT coalesce(max(num), 0) + 1 FROM kb_doc), false)`,
  ])
  return counts
}

const WAITING = `SELECT id FROM kb_source
  WHERE kind <> 'url' AND state IN ('queued', 'reading', 'embedding')`

/** Copies uploads that wait to be read into the database. Returns their number. */
export async function copyUploads(
  { source, execute }: Pick<Copy, 'source' | 'execute'>,
  spool: Pick<Spool, 'has' | 'map'>,
): Promise<number> {
  const files = createSharedFiles({
    get: async <StoredRow>(statement: Statement) =>
      ((await execute([statement]))[0] ?? null) as StoredRow,
  })
  const waiting = source.query<{ id: string }, []>(WAITING).all()
  const there = waiting.filter(({ id }) => spool.has(id))
  for (const { id } of there) await files.keep(id, spool.map(id))
  return there.length
}

type VectorRow = { key: number; space: string; vector: Uint8Array }

async function copyVectors({ source, execute, vectors, progress }: Copy): Promise<number> {
  let count = 0
  const rows = rowsOf<VectorRow>(source, 'SELECT key, space, vector FROM kb_vector ORDER BY key')
  for (const portion of portions(rows)) {
    for (const some of Object.values(Object.groupBy(portion, ({ space }) => space))) {
      const space = some?.[0]?.space ?? ''
      const slash = space.indexOf('/')
      const place = { tenantId: space.slice(0, slash), model: space.slice(slash + 1) }
      const entries = (some ?? []).map(({ key, vector }) => ({
        key,
        vector: new Float32Array(vector.slice().buffer),
      }))
      await execute(vectors.upsert(place, entries))
      count += entries.length
    }
    progress.add('kb_vector', portion.length)
  }
  return count
}

/** `scope`: the tenant, or the file of a conversation, whose words are found apart. */
type DocRow = { num: number; scope: string; title: string }

const DOCS = `SELECT num, title,
  CASE stage WHEN 'file' THEN source_id ELSE tenant_id END AS scope FROM kb_doc`

/** Builds the word index from the chunks, because the source's index stores no text. */
async function copyWords({ source, execute, words, progress }: Copy): Promise<void> {
  const chunks = source.query<{ seq: number; text: string }, [number]>(
    'SELECT seq, text FROM kb_chunk WHERE doc_num = ? ORDER BY seq',
  )
  for (const doc of source.query<DocRow, []>(DOCS).all()) {
    const own = chunks.all(doc.num)
    const texts = indexTextsOf(
      doc.title,
      own.map(({ text }) => text),
    )
    const entries = own.map(({ seq }, index) => ({
      key: keyOf(doc.num, seq),
      terms: termsOf(texts[index] ?? ''),
    }))
    await execute(words.upsert(doc.scope, entries))
    progress.add('kb_word', entries.length)
  }
}

/** The tables whose number of rows differs from `counts`. */
export async function miscounted(
  execute: Execute,
  counts: ReadonlyMap<string, number>,
): Promise<string[]> {
  const wrong: string[] = []
  for (const [table, count] of counts) {
    const [row] = await execute([{ sql: `SELECT count(*) AS count FROM "${table}"`, args: [] }])
    if ((row as { count: number } | undefined)?.count !== count) wrong.push(table)
  }
  return wrong
}
