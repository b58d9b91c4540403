import type { Database } from 'bun:sqlite'
import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { type Changes, type Db, NotAsExpected, type Statement, type StoredDb, sql } from '../db.ts'
import {
  type DatabaseFile,
  diskFaultOf,
  errorOf,
  faultOf,
  openConnection,
  statements,
} from './connection.ts'
import { createEraser } from './erase.ts'
import type { BatchResult } from './writer.ts'
import {
  createDiskHealth,
  createWriteQueue,
  type DiskHealth,
  type DiskTrouble,
  openWriterThread,
  type WriterThread,
} from './writer-thread.ts'

interface Pending {
  readonly batch: readonly Statement[]
  readonly resolve: (changes: Changes[]) => void
  readonly reject: (error: unknown) => void
}

/** A transaction that writes to the disk and changes nothing. */
const PROBE = [
  sql`INSERT INTO migration (name) VALUES ('write-probe')`,
  sql`DELETE FROM migration WHERE name = 'write-probe'`,
]

export interface SqliteDb extends StoredDb {
  /** The trouble of the disk by its last failure; null when there was none or it has passed. */
  trouble(): Promise<DiskTrouble | null>
  /** To be called with errors that other connections to the same file meet. */
  failed(error: unknown): void
  /** Takes deleted data from the disk. */
  erase(signal: AbortSignal): Promise<void>
}

/**
 * SQLite behind the `Db` port: reads on this thread's connection, writes in the writer thread.
 * While one group is flushed the next one gathers, so the number of flushes follows the speed of
 * the disk and not the number of writers. `writerUrl` is the address of `writer.ts`, which differs
 * in the executable; `seldomWritten` are the tables whose rows are kept in memory, by default
 * `SELDOM_WRITTEN`. Resolves once the writer is open.
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
  let closing = false
  const health = createDiskHealth(file.path, () => groups.batch(PROBE))
  const groups = createGroups(writer, health, {
    /** Drops outdated rows before a write is acknowledged: the caller's next read must see it. */
    forget: (group) => {
      for (const { batch } of group) cache.written(batch)
    },
    stored: (batch, changes) => eraser.stored(batch, changes),
  })
  const { batch } = groups

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

  const db: Db = {
    get: async <Row>(statement: Statement) =>
      reading(() => cache.get(statement, () => reader.get(statement))) as Row | null,
    all: async <Row>(statement: Statement) => reading(() => reader.all(statement)) as Row[],
    batch,
    run: async (statement) => (await batch([statement]))[0] ?? { changes: 0 },
    async close() {
      if (closing) return
      closing = true
      // What stays on the disk meanwhile, the next start erases.
      await eraser.eraseLast().catch(health.failed)
      await groups.close()
      reader.close()
      connection.close()
      await writer.close()
    },
  }
  const eraser = createEraser({ db, tidy: groups.tidy })
  return {
    ...db,
    trouble: health.trouble,
    failed: health.failed,
    takesWrites: writer.runs,
    erase: eraser.erase,
  }
}

interface GroupHooks {
  /** Called before the batches are acknowledged. */
  readonly forget: (group: readonly Pending[]) => void
  readonly stored: (batch: readonly Statement[], changes: readonly number[]) => void
}

/** Gathers what is to be written, and gives the writer one group at a time. */
function createGroups(writer: WriterThread, health: DiskHealth, { forget, stored }: GroupHooks) {
  const waiting = createWriteQueue<Pending>()
  let draining: Promise<void> | null = null
  let tidying: (() => Promise<void>) | null = null
  let closed = false

  async function drain() {
    for (;;) {
      // What else is about to be written in this round of the event loop joins the group: with 50
      // turns at a time, a turn takes 0.9 of the processor time of one that goes alone.
      await new Promise(setImmediate)
      const [group, tidyNow] = [waiting.next(), tidying]
      tidying = null
      if (group.length > 0) await flush(group)
      else if (!tidyNow) break
      await tidyNow?.()
    }
    draining = null
  }

  async function flush(group: readonly Pending[]) {
    try {
      const batches = group.map(({ batch }) => batch)
      const results = await writer.write(batches).finally(() => forget(group))
      for (const [index, pending] of group.entries()) {
        const result = results[index]
        if (result && 'changes' in result) stored(pending.batch, result.changes)
        settle(pending, result, health)
      }
    } catch (error) {
      health.failed(error)
      for (const { reject } of group) reject(error)
    }
  }

  return {
    batch(list: readonly Statement[]): Promise<Changes[]> {
      if (closed) return Promise.reject(new Error('the database is closed'))
      return new Promise((resolve, reject) => {
        waiting.add({ batch: list, resolve, reject })
        draining ??= drain()
      })
    },
    /** After the group that is written next, because the writer does one thing at a time. */
    tidy(compact: boolean): Promise<boolean> {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      tidying = () => writer.tidy(compact).then(resolve, reject)
      draining ??= drain()
      return promise
    },
    async close(): Promise<void> {
      closed = true
      await draining
    },
  }
}

function tablesOf(connection: Database): string[] {
  const query = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')`
  const rows = connection.query<{ name: string }, []>(query).all()
  return rows.map(({ name }) => name)
}

/** Resolves or rejects the promise of a batch by its result. */
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

/** UTF-16 units of text kept in rows; about twice as many bytes. */
const CACHED_UNITS_MAX = 4 * 1024 * 1024
/** The name of a row holds the arguments of its statement, and a caller's text may be long. */
const NAME_UNITS_MAX = 256
/** Statements whose verdict is remembered. */
const TEXTS_MAX = 1_000
/** What a row takes besides its text. */
const ROW_UNITS = 128 + NAME_UNITS_MAX

/** Read with every request and seldom written. */
const SELDOM_WRITTEN = [
  'api_key',
  'app',
  'mcp_server',
  'persona',
  'prompt',
  'provider',
  'tenant',
  'tenant_settings',
]

type Row = Readonly<Record<string, unknown>>

/** What the text of a statement says about caching. */
interface Verdict {
  /** Stands for the text in the names of rows. */
  readonly number: number
  /** It names a table that is seldom written: a write of it drops the kept rows. */
  readonly touches: boolean
  /** It names only such tables: the row that it reads may be kept. */
  readonly kept: boolean
}

/**
 * Keeps rows of the tables that every request reads and few requests write, such as that of a key.
 * Any word of a statement that is the name of a table counts as used by it. A row is kept only when
 * all tables of its statement are seldom written; a write that names one of those drops every kept
 * row. So it may drop too much and never too little. While a server runs, only `key create` writes
 * these tables from another process, and it only adds rows; hence the absence of a row is never
 * kept.
 */
function createRowCache(
  tables: readonly string[],
  seldomWritten: readonly string[] = SELDOM_WRITTEN,
) {
  const rows = leastRecentlyUsed<Row>(CACHED_UNITS_MAX, unitsOf)
  const seldom = new Set(seldomWritten)
  const others = new Set(tables).difference(seldom)
  const texts = leastRecentlyUsed<Verdict>(TEXTS_MAX, () => 1)
  let lastNumber = 0

  function judge(text: string): Verdict {
    const words = new Set(text.match(/\w+/g))
    const touches = !seldom.isDisjointFrom(words)
    return { number: ++lastNumber, touches, kept: touches && others.isDisjointFrom(words) }
  }

  function known(text: string): Verdict {
    const found = texts.get(text)
    if (found) return found
    const judged = judge(text)
    texts.put(text, judged)
    return judged
  }

  return {
    /** The row that an earlier `read` gave for this statement, else what it gives now. */
    get({ sql, args }: Statement, read: () => Row | null): Row | null {
      const { number, kept } = known(sql)
      if (!kept) return read()
      const name = rowName(number, args)
      if (name.length > NAME_UNITS_MAX) return read()
      const there = rows.get(name)
      if (there) return there
      const row = read()
      if (row) rows.put(name, Object.freeze(row))
      return row
    },

    /** To be called with every statement that was executed, before its write is acknowledged. */
    written(statements: readonly Statement[]): void {
      if (statements.some(({ sql }) => known(sql).touches)) rows.clear()
    },
  }
}

/** One text needs no JSON; a space tells it from what does. */
function rowName(number: number, args: Statement['args']): string {
  const [first] = args
  if (args.length === 1 && typeof first === 'string') return `${number} ${first}`
  return number + JSON.stringify(args)
}

function unitsOf(row: Row): number {
  let units = ROW_UNITS
  for (const value of Object.values(row)) if (typeof value === 'string') units += value.length
  return units
}
