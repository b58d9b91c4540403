import { Database } from 'bun:sqlite'
import type { Migration } from '../migrations/index.ts'

/** The product's list of the migrations that a database has. */
export const MIGRATION_TABLE = 'CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT'

type Schema = ReadonlyMap<string, string>

/**
 * Names of the tables, indexes, triggers and views that differ from what these migrations make of
 * an empty database. A foreign trigger, for example, could undo what the product writes. `done` are
 * the migrations that the database has; `ignored` are names of further tables that it may have.
 */
export function schemaDifferences(
  db: Database,
  done: readonly Migration[],
  ignored: readonly string[] = [],
): string[] {
  const there = schemaOf(db)
  const expected = expectedSchema(done)
  const isIgnored = (name: string) => ignored.some((one) => name.endsWith(one))
  const names = new Set([...there.keys(), ...expected.keys()])
  return [...names].filter((name) => !isIgnored(name) && there.get(name) !== expected.get(name))
}

/** The text of each entry, by its kind, the table that it belongs to, and its name. */
function schemaOf(db: Database): Schema {
  const rows = db
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      'SELECT type, name, tbl_name, sql FROM sqlite_schema',
    )
    .all()
  return new Map(
    rows.map(({ type, name, tbl_name, sql }) => [`${type} ${tbl_name} ${name}`, plain(sql ?? '')]),
  )
}

/** Comments and line breaks of a migration may change; what it makes may not. */
const plain = (sql: string) =>
  sql
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

function expectedSchema(done: readonly Migration[]): Schema {
  const db = new Database(':memory:')
  try {
    db.run(MIGRATION_TABLE)
    for (const { sql } of done) db.run(sql)
    return schemaOf(db)
  } finally {
    db.close()
  }
}
