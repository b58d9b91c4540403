import { systemClock } from '../../src/core/clock.ts'
import { prepareRuntime } from '../../src/native/runtime.ts'
import { type Db, type ListReader, type Statement, sql } from '../../src/storage/db.ts'
import type { TurnIndex, VectorIndex, WordIndex } from '../../src/storage/indexes.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { createReader, openPostgres } from '../../src/storage/postgres/db.ts'
import { createTurnIndex as createGinIndex } from '../../src/storage/postgres/turn-words.ts'
import { createVectorIndex as createHalfvecIndex } from '../../src/storage/postgres/vectors.ts'
import { createWordIndex as createTsvectorIndex } from '../../src/storage/postgres/words.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { createReadThread } from '../../src/storage/sqlite/read-thread.ts'
import { createTurnIndex } from '../../src/storage/sqlite/turn-words.ts'
import { createVectorIndex } from '../../src/storage/sqlite/vectors.ts'
import { createWordIndex } from '../../src/storage/sqlite/words.ts'
import { startPostgres } from './postgres.ts'
import { tempFolder } from './temp.ts'

const thread = (name: string) =>
  new URL(`../../src/storage/sqlite/${name}.ts`, import.meta.url).href

/** A migrated database in `folder` with both search indexes, opened as the product does. */
export async function openIndexes(folder: string) {
  const { vec0 } = await prepareRuntime(folder)
  const file = { path: `${folder}/test.db`, extensions: [vec0] }
  migrate(file, MIGRATIONS, 'test')
  const db = await openSqlite(file, thread('writer'))
  const reader = createReadThread(file, thread('reader'))
  return {
    db,
    reader,
    vectors: createVectorIndex(reader),
    words: createWordIndex(reader),
    turnIndex: createTurnIndex(reader),
    async [Symbol.asyncDispose]() {
      await reader.close()
      await db.close()
    },
  }
}

export interface OpenIndexes extends AsyncDisposable {
  readonly db: Db
  readonly reader: ListReader
  readonly vectors: VectorIndex
  readonly words: WordIndex
  readonly turnIndex: TurnIndex
  /** Removes all documents. */
  clear(): Promise<unknown>
}

const clearing = (db: Db, tables: readonly string[]) => () =>
  db.batch(tables.map((table) => ({ sql: `DELETE FROM ${table}`, args: [] })))

async function openFile(): Promise<OpenIndexes> {
  const folder = tempFolder()
  const { db, reader, vectors, words, turnIndex, ...open } = await openIndexes(folder.path)
  return {
    ...{ db, reader, vectors, words, turnIndex },
    clear: clearing(db, ['kb_doc', 'kb_word', 'kb_vector', 'kb_vector_code']),
    async [Symbol.asyncDispose]() {
      await open[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

async function openServer(): Promise<OpenIndexes> {
  const server = await startPostgres('all')
  const db = openPostgres({ url: server.url, clock: systemClock() })
  const reader = createReader(db)
  return {
    db,
    reader,
    vectors: createHalfvecIndex(reader),
    words: createTsvectorIndex(reader),
    turnIndex: createGinIndex(reader),
    clear: clearing(db, ['kb_doc', 'kb_word', 'kb_vector']),
    async [Symbol.asyncDispose]() {
      await db.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Every adapter of the two indexes. */
export const INDEX_ADAPTERS = [
  { name: 'SQLite', open: openFile },
  { name: 'PostgreSQL', open: openServer },
]

/** A document of the tenant, which is made when missing, with this many chunks. */
export const newDoc = (tenantId: string, chunks: number): Statement[] => [
  sql`INSERT INTO tenant (id, created_at) VALUES (${tenantId}, '') ON CONFLICT (id) DO NOTHING`,
  sql`INSERT INTO kb_doc
      (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model)
    SELECT coalesce(max(num), 0) + 1, ${crypto.randomUUID()}, ${tenantId}, 't', 1, ${chunks}, '',
      'm1' FROM kb_doc`,
]
