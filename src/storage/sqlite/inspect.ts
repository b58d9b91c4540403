import { Database } from 'bun:sqlite'
import type { Migration } from '../migrations/index.ts'
import type { DatabaseFile } from './connection.ts'

export interface Inspection {
  /** What SQLite's own check found wrong; empty for a sound file. */
  readonly damage: readonly string[]
  /** Migrations that the file has and this program does not know: it is a newer program's. */
  readonly unknown: readonly string[]
  /** Migrations that this program would still apply. */
  readonly pending: readonly string[]
}

/** Opens without creating or changing anything. Throws SQLite's error when it is no database. */
export function openExisting({ path, extensions }: DatabaseFile): Database {
  const db = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 5000')
    for (const extension of extensions) db.loadExtension(extension)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Reads the whole file once: structure, indexes, foreign keys, and which program wrote it. */
export function inspect(file: DatabaseFile, migrations: readonly Migration[]): Inspection {
  const db = openExisting(file)
  try {
    const check = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)').all()
    const broken = db.query<{ table: string }, []>('PRAGMA foreign_key_check').all()
    const damage = [
      ...check.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
      ...[...new Set(broken.map(({ table }) => table))].map((name) => `orphaned rows in ${name}`),
    ]
    const done = db.query<{ name: string }, []>('SELECT name FROM migration').all()
    const has = new Set(done.map(({ name }) => name))
    const known = migrations.map(({ name }) => name)
    return {
      damage,
      unknown: [...has].filter((name) => !known.includes(name)),
      pending: known.filter((name) => !has.has(name)),
    }
  } finally {
    db.close()
  }
}

/** Version of the vector extension at `path`; throws when it cannot be loaded. */
export function vectorVersion(path: string): string {
  const db = new Database(':memory:')
  try {
    db.loadExtension(path)
    const row = db.query<{ version: string }, []>('SELECT vec_version() AS version').get()
    return row?.version ?? ''
  } finally {
    db.close()
  }
}
