import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ageOfFile, rebuildFile, TOO_OLD } from '../before-first-release.ts'
import type { Migration } from '../migrations/index.ts'
import { type DatabaseFile, openConnection } from './connection.ts'
import { openExisting } from './inspect.ts'
import { MIGRATION_TABLE } from './schema.ts'

/** The database is not one that this program can use, and it would damage it: a sentence. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError'
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
      db.run(MIGRATION_TABLE)
      const names = db.query<{ name: string }, []>('SELECT name FROM migration').all()
      const done = new Set(names.map(({ name }) => name))
      const pending = pendingOf(done, migrations)
      const copy = done.size > 0 && pending.length > 0 ? copyOf(file.path, stamp) : null
      if (copy) copyTo(copy, file.path)
      const note = db.query('INSERT INTO migration (name) VALUES (?)')
      const isEarlier = copy !== null && ageOfFile(done) === 'before'
      if (isEarlier) db.run('DELETE FROM migration')
      for (const [index, migration] of pending.entries()) {
        if (isEarlier && index === 0) rebuildFile(db, migration, { copy, names: done })
        else db.run(migration.sql)
        note.run(migration.name)
      }
      return copy
    })
    return bringForward.immediate()
  } finally {
    db.close()
  }
}

/** The migrations to apply. Throws `UnusableFileError`. */
function pendingOf(done: ReadonlySet<string>, migrations: readonly Migration[]) {
  const age = ageOfFile(done)
  if (age === 'too old') throw new UnusableFileError(`the database ${TOO_OLD}`)
  if (age === 'before') return migrations
  const foreign = [...done].find((name) => migrations.every((one) => one.name !== name))
  if (foreign) {
    throw new UnusableFileError(
      `the database was written by a newer Moonbase (it has ${foreign}); use that version, or ` +
        'put the copy of before its upgrade (backups in the data folder) in place of moonbase.db',
    )
  }
  return migrations.filter(({ name }) => !done.has(name))
}

/** On a second connection, because one in a transaction cannot copy; it reads the old state. */
function copyTo(copy: string, path: string): void {
  mkdirSync(dirname(copy), { recursive: true })
  const source = openExisting(path)
  try {
    source.query('VACUUM INTO ?').run(copy)
  } finally {
    source.close()
  }
}

function copyOf(path: string, stamp: string): string {
  return join(dirname(path), 'backups', `before-upgrade-${stamp}.db`)
}
