import type { Database } from 'bun:sqlite'
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import { type Changes, NotAsExpected, type Statement, type StoredDb, sql } from '../db.ts'
import {
  type DatabaseFile,
  diskFaultOf,
  errorOf,
  faultOf,
  openConnection,
  statements,
} from './connection.ts'
import { createRowCache } from './row-cache.ts'
import type { BatchResult } from './writer.ts'
import { createWriteQueue, openWriterThread } from './writer-thread.ts'

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

export interface SqliteDb extends StoredDb {
  /** What keeps the disk from serving, as the last failure told, unless it has passed. */
  trouble(): Promise<DiskTrouble | null>
  /** To be called with errors that other connections to the same file meet. */
  failed(error: unknown): void
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
  const writer = await openWriterThread(file, writerUrl)
  const connection = openConnection(file, 'read')
  const reader = statements(connection)
  const cache = createRowCache(tablesOf(connection), seldomWritten)
  const waiting = createWriteQueue<Pending>()
  let draining: Promise<void> | null = null
  let closed = false
  const health = createDiskHealth(file.path, () => batch(PROBE))

  async function drain() {
    // Batches that requests handled in this same tick are about to write join the first group.
    await Promise.resolve()
    for (let group = waiting.next(); group.length > 0; group = waiting.next()) await flush(group)
    draining = null
  }

  async function flush(group: readonly Pending[]) {
    try {
      const batches = group.map(({ batch }) => batch)
      const results = await writer.write(batches).finally(() => forget(group))
      for (const [index, pending] of group.entries()) settle(pending, results[index], health)
    } catch (error) {
      health.failed(error)
      for (const { reject } of group) reject(error)
    }
  }

  /** Before a write is acknowledged: whatever its caller reads next must contain it. */
  function forget(group: readonly Pending[]) {
    for (const { batch } of group) cache.written(batch)
  }

  /** Runs a read on this thread's connection and notes a failure of the disk. */
  function reading<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      const fault = diskFaultOf(faultOf(error))
      health.failed(fault)
      throw fault ?? error
    }
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
      reading(() => cache.get(statement, () => reader.get(statement))) as Row | null,
    all: async <Row>(statement: Statement) => reading(() => reader.all(statement)) as Row[],
    batch,
    run: async (statement) => (await batch([statement]))[0] ?? { changes: 0 },
    trouble: health.trouble,
    failed: health.failed,
    takesWrites: writer.runs,
    async close() {
      if (closed) return
      closed = true
      await draining
      reader.close()
      connection.close()
      await writer.close()
    },
  }
}

function tablesOf(connection: Database): string[] {
  const query = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')`
  const rows = connection.query<{ name: string }, []>(query).all()
  return rows.map(({ name }) => name)
}

/** Tells the caller of a batch what became of it. */
function settle(pending: Pending, result: BatchResult | undefined, health: DiskHealth): void {
  if (result && 'changes' in result) {
    health.written()
    pending.resolve(result.changes.map((changes) => ({ changes })))
  } else if (result && 'unexpected' in result) {
    pending.reject(new NotAsExpected(result.unexpected))
  } else {
    const error = result ? errorOf(result) : new Error('no answer of the writer thread')
    health.failed(error)
    pending.reject(error)
  }
}

type DiskTrouble = DiskFault['trouble']

/** A disk with this much free space takes what a request writes. */
const FREE_BYTES_MIN = 1024 * 1024

/** A damaged page does not mend itself, and a write to another page proves nothing about it. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/

/**
 * Remembers how the last write to the file at `path` failed. Without traffic that would stay, so
 * `trouble` looks at the free space, or calls `probeWrite`, a write that stores nothing. Damage is
 * remembered until the process ends.
 */
export function createDiskHealth(path: string, probeWrite: () => Promise<unknown>) {
  let last: DiskTrouble | null = null
  let damaged = false

  return {
    failed(error: unknown): void {
      if (!(error instanceof DiskFault)) return
      last = error.trouble
      damaged ||= DAMAGED.test(error.code)
    },
    written(): void {
      last = null
    },
    async trouble(): Promise<DiskTrouble | null> {
      if (damaged) return 'disk_error'
      if (last === 'disk_error') await probeWrite().catch(() => {})
      if (last === 'disk_full' && freeBytes(dirname(path)) >= FREE_BYTES_MIN) last = null
      return last
    },
  }
}

type DiskHealth = ReturnType<typeof createDiskHealth>

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
