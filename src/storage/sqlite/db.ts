import { type Changes, type Db, NotAsExpected, type Statement, sql } from '../db.ts'
import { type DatabaseFile, openConnection } from './connection.ts'
import { createTrouble, type Trouble, type TroubleWatch } from './disk-health.ts'
import { errorOf } from './fault.ts'
import type { BatchResult } from './group-commit.ts'
import type { WriterAnswer, WriterRequest } from './protocol.ts'
import { createRowCache } from './row-cache.ts'
import { snapshotReader } from './snapshot.ts'
import { createWriteQueue } from './write-queue.ts'

interface Pending {
  readonly batch: readonly Statement[]
  readonly resolve: (changes: Changes[]) => void
  readonly reject: (error: unknown) => void
}

/** A transaction that has to be written and leaves nothing behind. */
const PROBE = [
  sql`INSERT INTO migration (name) VALUES ('write-probe')`,
  sql`DELETE FROM migration WHERE name = 'write-probe'`,
]

export interface SqliteDb extends Db {
  /** What keeps the disk from taking writes, as the last one met it, unless it has passed. */
  trouble(): Promise<Trouble | null>
}

/**
 * SQLite behind the `Db` port: reads on this thread's connection, writes in the writer thread.
 * While one group is being flushed the next one gathers, so the number of flushes follows the speed
 * of the disk and not the number of writers. `writerUrl` is where `writer.ts` lies, which differs
 * in the executable; `seldomWritten` are the tables whose rows are kept in memory, by default the
 * product's. Resolves once the writer is open.
 */
export async function openSqlite(
  file: DatabaseFile,
  writerUrl: string,
  seldomWritten?: readonly string[],
): Promise<SqliteDb> {
  const writer = await startWriter(file, writerUrl)
  const connection = openConnection(file, 'read')
  const reader = snapshotReader(connection)
  const cache = createRowCache(tablesOf(reader), seldomWritten)
  const waiting = createWriteQueue<Pending>()
  let draining: Promise<void> | null = null
  let closed = false
  const trouble = createTrouble(file.path, () => batch(PROBE))

  async function drain() {
    // Batches that requests handled in this same tick are about to write join the first group.
    await Promise.resolve()
    for (let group = waiting.next(); group.length > 0; group = waiting.next()) await flush(group)
    draining = null
  }

  async function flush(group: readonly Pending[]) {
    try {
      const answer = await writer.ask({ type: 'write', batches: group.map(({ batch }) => batch) })
      forget(group)
      if (answer.type !== 'written') throw new Error('unexpected answer of the writer thread')
      for (const [index, pending] of group.entries())
        settle(pending, answer.results[index], trouble)
    } catch (error) {
      forget(group)
      for (const { reject } of group) reject(error)
    }
  }

  /** Whoever hears that its write is done finds it in whatever it reads next. */
  function forget(group: readonly Pending[]) {
    reader.renew()
    for (const { batch } of group) cache.written(batch)
  }

  function batch(list: readonly Statement[]): Promise<Changes[]> {
    if (closed) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      waiting.add({ batch: list, resolve, reject })
      draining ??= drain()
    })
  }

  return {
    get: async <Row>(statement: Statement) =>
      cache.get(statement, () => reader.get(statement)) as Row | null,
    all: async <Row>(statement: Statement) => reader.all(statement) as Row[],
    batch,
    trouble: trouble.now,
    run: async (statement) => (await batch([statement]))[0] ?? { changes: 0 },
    async close() {
      if (closed) return
      closed = true
      await draining
      reader.close()
      connection.close()
      await writer.ask({ type: 'close' })
      writer.end()
    },
  }
}

function tablesOf(reader: ReturnType<typeof snapshotReader>): string[] {
  const rows = reader.all(sql`SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')`)
  return rows.map(({ name }) => String(name))
}

/** Tells the caller of a batch what became of it. */
function settle(pending: Pending, result: BatchResult | undefined, trouble: TroubleWatch): void {
  if (result && 'changes' in result) {
    trouble.written()
    pending.resolve(result.changes.map((changes) => ({ changes })))
  } else if (result && 'unexpected' in result) {
    pending.reject(new NotAsExpected(result.unexpected))
  } else {
    const error = result ? errorOf(result) : new Error('no answer of the writer thread')
    trouble.refused(error)
    pending.reject(error)
  }
}

async function startWriter(file: DatabaseFile, writerUrl: string) {
  const worker = new Worker(writerUrl)
  let settle: { resolve: (answer: WriterAnswer) => void; reject: (error: Error) => void } | null
  settle = null
  worker.onmessage = ({ data }: MessageEvent<WriterAnswer>) => {
    if (data.type === 'failed') settle?.reject(errorOf(data.fault))
    else settle?.resolve(data)
  }
  worker.onerror = (event) => settle?.reject(new Error(event.message))
  const ask = (request: WriterRequest) =>
    new Promise<WriterAnswer>((resolve, reject) => {
      settle = { resolve, reject }
      worker.postMessage(request)
    })
  await ask({ type: 'open', file })
  return { ask, end: () => worker.terminate() }
}
