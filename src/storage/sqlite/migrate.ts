import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Migration } from '../migrations/index.ts'
import { type DatabaseFile, openConnection } from './connection.ts'

/** The database was written by a newer program; running on would damage it. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

export interface MigrationReport {
  readonly applied: readonly string[]
  /** Where the copy of the old database lies, when there was something to copy. */
  readonly copy: string | null
}

/**
 * Brings a database of any earlier version forward, one transaction a file, before anything else
 * opens it. An existing database is copied first, so that an upgrade can always be taken back.
 * `stamp` names the copy, such as `20261121T093000Z`.
 */
export function migrate(
  file: DatabaseFile,
  migrations: readonly Migration[],
  stamp: string,
): MigrationReport {
  mkdirSync(dirname(file.path), { recursive: true })
  const existed = existsSync(file.path)
  const db = openConnection(file, 'write')
  try {
    db.run('CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT')
    const names = db.query<{ name: string }, []>('SELECT name FROM migration').all()
    const done = new Set(names.map(({ name }) => name))
    const known = new Set(migrations.map(({ name }) => name))
    const foreign = [...done].find((name) => !known.has(name))
    if (foreign) {
      throw new NewerDatabaseError(
        `the database was written by a newer Moonbase (it has ${foreign}); use that version`,
      )
    }
    const pending = migrations.filter(({ name }) => !done.has(name))
    const copy = existed && done.size > 0 && pending.length > 0 ? copyOf(file.path, stamp) : null
    if (copy) {
      mkdirSync(dirname(copy), { recursive: true })
      db.query('VACUUM INTO ?').run(copy)
    }
    for (const { name, sql } of pending) {
      db.transaction(() => {
        db.run(sql)
        db.query('INSERT INTO migration (name) VALUES (?)').run(name)
      }).immediate()
    }
    return { applied: pending.map(({ name }) => name), copy }
  } finally {
    db.close()
  }
}

function copyOf(path: string, stamp: string): string {
  return join(dirname(path), 'backups', `before-upgrade-${stamp}.db`)
}
