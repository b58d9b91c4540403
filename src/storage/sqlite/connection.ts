import { Database, type Statement as Prepared, type SQLQueryBindings } from 'bun:sqlite'
import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { DatabaseAway, DiskFault } from '../../core/errors.ts'
import { type Statement, storable } from '../db.ts'

/** How a database file is opened; the writer thread and the reader open it alike. */
export interface DatabaseFile {
  readonly path: string
  /** Loadable extensions, by path; connections that read have their functions. */
  readonly extensions: readonly string[]
}

/**
 * WAL lets readers go on while one writer commits; FULL makes a commit survive a power cut, which
 * is what "acknowledged" means here. The busy timeout covers a second process, such as
 * `key create`; it is set first, because setting WAL may have to wait as well.
 */
const PRAGMAS = [
  'busy_timeout = 5000',
  // While a backup reads, the log only grows; without a limit it would keep that size.
  'journal_size_limit = 16777216',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'temp_store = MEMORY',
]

/** Every commit empties a reader's page cache; mapped pages are read without a system call. */
const MAPPED_BYTES = 256 * 1024 ** 2
const READER_PRAGMAS = ['query_only = ON', `mmap_size = ${MAPPED_BYTES}`]
/** Deleted rows are overwritten with zeros. */
const WRITER_PRAGMAS = ['secure_delete = ON']

/** Makes the file when there is none. Throws SQLite's error when it cannot be used. */
export function openConnection(file: DatabaseFile, mode: 'read' | 'write'): Database {
  const db = new Database(file.path, { create: true, strict: true })
  for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
  if (mode === 'read') for (const extension of file.extensions) db.loadExtension(extension)
  const further = mode === 'read' ? READER_PRAGMAS : WRITER_PRAGMAS
  for (const pragma of further) db.run(`PRAGMA ${pragma}`)
  return db
}

type Bind = SQLQueryBindings[]
type Row = Readonly<Record<string, unknown>>

const bindable = (args: Statement['args']) => args.map(storable) as Bind

/**
 * The same statement, planned once. SQLite peeks at the value of a bare parameter in a comparison
 * and plans again whenever another value is bound; a unary plus, which changes nothing else, keeps
 * it from that. Measured: listing sessions took 16 us before and 4 us after. No SQL text may hold a
 * question mark in a literal.
 */
const plannedOnce = (text: string) => text.replaceAll('?', '+?')

/** Far more texts than the program has; texts that a caller could shape would fill memory. */
const PREPARED_MAX = 300

/** Prepares each SQL text once, and keeps those that were used last. */
export function statements(db: Database, preparedMax = PREPARED_MAX) {
  const cache = leastRecentlyUsed<Prepared>(
    preparedMax,
    () => 1,
    (one) => one.finalize(),
  )
  const prepared = (text: string): Prepared => {
    const known = cache.get(text)
    if (known) return known
    const fresh = db.prepare(plannedOnce(text))
    cache.put(text, fresh)
    return fresh
  }
  return {
    get: ({ sql, args }: Statement) => prepared(sql).get(...bindable(args)) as Row | null,
    all: ({ sql, args }: Statement) => prepared(sql).all(...bindable(args)) as Row[],
    /** Row by row; the statement must not run again before the last one. */
    iterate: <Row>({ sql, args }: Statement) =>
      prepared(sql).iterate(...bindable(args)) as IterableIterator<Row>,
    run: ({ sql, args }: Statement) => prepared(sql).run(...bindable(args)).changes,
    close: cache.clear,
  }
}

/**
 * An error in a form that messages between threads keep; of an Error they keep the message only.
 */
export interface Fault {
  readonly error: string
  /** SQLite's error code, such as `SQLITE_FULL`; empty for other errors. */
  readonly code: string
}

export const faultOf = (error: unknown): Fault => ({
  error: error instanceof Error ? error.message : 'write failed',
  code: String((error as { code?: unknown } | null)?.code ?? ''),
})

const DISK = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|CORRUPT|NOTADB)(_|$)/

/** The fault as a `DiskFault`; null when it is not about the disk, such as a wrong statement. */
export function diskFaultOf({ error, code }: Fault): DiskFault | null {
  const family = DISK.exec(code)?.[1]
  if (family === undefined) return null
  return new DiskFault(family === 'FULL' ? 'disk_full' : 'disk_error', code, error)
}

/** Another program, such as a shell of SQLite, held the file for longer than the busy timeout. */
const HELD = /^SQLITE_(BUSY|LOCKED)(_|$)/

export const errorOf = (fault: Fault): Error =>
  HELD.test(fault.code)
    ? new DatabaseAway(fault.code, fault.error)
    : (diskFaultOf(fault) ?? new Error(fault.error))

/** Held for as long as one program owns a data folder. */
export interface FolderLock {
  release(): void
}

/**
 * Takes the lock file at `path`, or returns null when another process holds it. The lock is the
 * operating system's, taken through SQLite, so it goes with its holder even after `kill -9` and no
 * stale file can keep a server from starting.
 */
export function takeLock(path: string): FolderLock | null {
  const db = new Database(path, { create: true, strict: true })
  try {
    db.run('PRAGMA journal_mode = MEMORY')
    db.run('PRAGMA busy_timeout = 0')
    db.run('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null
    throw error
  }
  return { release: () => db.close() }
}
