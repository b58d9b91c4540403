import type { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Migration } from '../migrations/index.ts'
import { type DatabaseFile, openConnection } from './connection.ts'
import { openExisting } from './inspect.ts'
import { MIGRATION_TABLE } from './schema.ts'
import { moveVectors } from './vec0-tables.ts'

/** The migration that made plain tables of vectors. */
const KB_VECTOR = '0017-kb-vector'

/** A newer program wrote the database, and this one would damage it. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/**
 * Migrates a database of any earlier version in one transaction, before anything else opens it. An
 * existing database is copied first, so that an upgrade can be undone. When several processes start
 * at the same time, one migrates and the others wait. `stamp` is part of the copy's name, such as
 * `20261121T093000Z`. Returns the path of the copy, or null when nothing was copied.
 */
export function migrate(
  file: DatabaseFile,
  migrations: readonly Migration[],
  stamp: string,
): string | null {
  mkdirSync(dirname(file.path), { recursive: true })
  const db = openConnection(file, 'write')
  try {
    const bringForward = db.transaction((): string | null => {
      const { done, pending } = compare(db, migrations)
      const copy = done > 0 && pending.length > 0 ? copyOf(file.path, stamp) : null
      if (copy) copyTo(copy, file)
      for (const { name, sql } of pending) {
        db.run(sql)
        db.query('INSERT INTO migration (name) VALUES (?)').run(name)
      }
      if (pending.some(({ name }) => name === KB_VECTOR)) moveVectors(db)
      return copy
    })
    return bringForward.immediate()
  } finally {
    db.close()
  }
}

function compare(db: Database, migrations: readonly Migration[]) {
  db.run(MIGRATION_TABLE)
  const names = db.query<{ name: string }, []>('SELECT name FROM migration').all()
  const done = new Set(names.map(({ name }) => name))
  const known = new Set(migrations.map(({ name }) => name))
  const foreign = [...done].find((name) => !known.has(name))
  if (foreign) {
    throw new NewerDatabaseError(
      `the database was written by a newer Moonbase (it has ${foreign}); use that version`,
    )
  }
  return { done: done.size, pending: migrations.filter(({ name }) => !done.has(name)) }
}

/** On a second connection, because one in a transaction cannot copy; it reads the old state. */
function copyTo(copy: string, file: DatabaseFile): void {
  mkdirSync(dirname(copy), { recursive: true })
  const source = openExisting(file)
  try {
    source.query('VACUUM INTO ?').run(copy)
  } finally {
    source.close()
  }
}

function copyOf(path: string, stamp: string): string {
  return join(dirname(path), 'backups', `before-upgrade-${stamp}.db`)
}
