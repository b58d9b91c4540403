import { Database } from 'bun:sqlite'
import { ageOfFile } from '../before-first-release.ts'
import type { Migration } from '../migrations/index.ts'
import { schemaDifferences } from './schema.ts'

export interface Inspection {
  /** Findings of SQLite's integrity check; empty for a sound file. */
  readonly damage: readonly string[]
  /** Migrations of the file that this program does not know: a newer program wrote it. */
  readonly unknown: readonly string[]
  /** Migrations that this program would still apply. */
  readonly pending: readonly string[]
  /** Tables, indexes, triggers and views that are not what the migrations made. */
  readonly foreign: readonly string[]
}

/** Opens without creating or changing anything. Throws SQLite's error when it is no database. */
export function openExisting(path: string): Database {
  const db = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 5000')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Reads the whole file once: structure, indexes, foreign keys, schema, and which program wrote it.
 * `ignored` are names of tables that a database of the product does not have and this one may.
 */
export function inspect(
  path: string,
  migrations: readonly Migration[],
  ignored: readonly string[] = [],
): Inspection {
  const db = openExisting(path)
  try {
    const check = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)').all()
    const broken = db.query<{ table: string }, []>('PRAGMA foreign_key_check').all()
    const damage = [
      // A row may hold many lines, of which the first names the database.
      ...check
        .flatMap((row) => row.integrity_check.split('\n'))
        .filter((line) => line !== 'ok' && !line.startsWith('***')),
      ...[...new Set(broken.map(({ table }) => table))].map((name) => `orphaned rows in ${name}`),
    ]
    const has = new Set(migrationsOf(db))
    const known = migrations.map(({ name }) => name)
    const isEarlier = ageOfFile(has) === 'before'
    const unknown = isEarlier ? [] : [...has].filter((name) => !known.includes(name))
    const done = migrations.filter(({ name }) => has.has(name))
    const isProduct = done.length > 0 && done.every(({ name }, index) => name === known[index])
    const foreign = isProduct ? schemaDifferences(db, done, ignored) : ['table migration']
    return {
      damage,
      unknown,
      pending: isEarlier ? known : known.filter((name) => !has.has(name)),
      // A newer program's schema cannot be judged; before 0.1.0, the next start makes all tables.
      foreign: unknown.length > 0 || isEarlier ? [] : foreign,
    }
  } finally {
    db.close()
  }
}

/** The names that the product's list of migrations holds; none when there is no such list. */
function migrationsOf(db: Database): string[] {
  const table = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'`
  if (!db.query(table).get()) return []
  const rows = db.query<{ name: string }, []>('SELECT name FROM migration').all()
  return rows.map(({ name }) => name)
}

/** Whether the database is anybody's; true where that cannot be read. */
export function hasTenants(path: string): boolean {
  try {
    const db = openExisting(path)
    try {
      return db.query('SELECT 1 FROM tenant LIMIT 1').get() !== null
    } finally {
      db.close()
    }
  } catch {
    return true
  }
}

/** Columns whose values only the server's encryption key opens. */
export const SEALED = [
  ['provider', 'key_sealed'],
  ['mcp_server', 'header_sealed'],
  ['mcp_server', 'client_secret_sealed'],
  ['mcp_grant', 'sealed'],
  ['share', 'token_sealed'],
  ['webhook', 'secret_sealed'],
  ['webhook', 'former_sealed'],
  ['system_setting', 'value_sealed'],
] as const

/** A database of an earlier version lacks the newer ones. */
const hasColumn = (db: Database, table: string, column: string) =>
  db.query('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== null

/** Whether a database holds sealed secrets. */
export function holdsSealed(path: string): boolean {
  const db = openExisting(path)
  try {
    return SEALED.some(
      ([table, column]) =>
        hasColumn(db, table, column) &&
        db.query(`SELECT 1 FROM ${table} WHERE ${column} IS NOT NULL LIMIT 1`).get() !== null,
    )
  } finally {
    db.close()
  }
}

/** The sealed settings of the whole server, by name. */
export function sealedSettings(path: string): { name: string; value_sealed: Uint8Array }[] {
  const db = openExisting(path)
  try {
    return db
      .query<{ name: string; value_sealed: Uint8Array }, []>(
        'SELECT name, value_sealed FROM system_setting',
      )
      .all()
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
