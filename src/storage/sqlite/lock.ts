import { Database } from 'bun:sqlite'

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
