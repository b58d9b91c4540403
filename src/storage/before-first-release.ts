// To be deleted in 0.2, with its folder, what calls it, the tests before-first-release*.test.ts in
// test/contract/, test/support/former-database.ts and test/fixtures/databases/before-0.1*: brings a
// database of the builds before 0.1.0 over to the tables of the first release.
import { Database } from 'bun:sqlite'
import * as postgres from './before-first-release/postgres/index.ts'
import * as sqlite from './before-first-release/sqlite/index.ts'
import type { Migration } from './migrations/index.ts'

/**
 * Names of migrations of those builds. The first ones had many: `early` is of all of them, `from`
 * one that a database of theirs must have.
 */
const OF_SQLITE = { early: '0002-kb', from: '0019-share', migrations: sqlite }
const OF_POSTGRES = { early: '0002-search', from: '0004-doc-number', migrations: postgres }
/** The first migration of all those builds; that of the release has another name. */
const FIRST = '0001-init'

/** What a database is by the names of its migrations. */
export type Age = 'released' | 'before' | 'too old'

const ageBy = (names: ReadonlySet<string>, { early, from }: typeof OF_SQLITE): Age => {
  if (names.has(early) && !names.has(from)) return 'too old'
  return names.has(FIRST) ? 'before' : 'released'
}

export const ageOfFile = (names: Iterable<string>): Age => ageBy(new Set(names), OF_SQLITE)
export const ageOfServer = (names: Iterable<string>): Age => ageBy(new Set(names), OF_POSTGRES)

export const TOO_OLD =
  'was written by an early build before 0.1.0; start it once with the last build before 0.1.0'

/** What a database lacks before its tables are made anew. */
const lackedBy = (
  names: ReadonlySet<string>,
  { from, migrations: { LAST, LATER } }: typeof OF_SQLITE,
): Migration[] =>
  (names.has(from) ? [...LAST, ...LATER] : LATER).filter(({ name }) => !names.has(name))

/** The SQL to run on a server before `REBUILD_SERVER`: the former migrations that it lacks. */
export const lackedByServer = (names: Iterable<string>): string[] =>
  lackedBy(new Set(names), OF_POSTGRES).map(({ sql }) => sql)

/**
 * In a transaction of `db`, whose migrations are `names`: applies the former ones that it lacks.
 * Then makes all tables anew, as the first migration has them, and fills them from `copy`, a copy
 * of the same database, or, where those migrations changed a table, with what they made of it.
 * The indexes of words, whose tables are the same, stay. Throws, so that nothing changes, when the
 * new tables lack a table or column of the old.
 */
export function rebuildFile(
  db: Database,
  { sql }: Migration,
  { copy, names }: { readonly copy: string; readonly names: ReadonlySet<string> },
): void {
  const wanted = schemaBy(sql)
  for (const former of lackedBy(names, OF_SQLITE)) db.run(former.sql)
  db.query('ATTACH ? AS former').run(copy)
  const old = tablesOf(db)
  const changed = keepChanged(db, old)
  // Each table is checked when all of them are full.
  db.run('PRAGMA defer_foreign_keys = ON')
  for (const { name } of entriesOf(db, 'trigger')) db.run(`DROP TRIGGER "${name}"`)
  for (const table of old.toReversed()) db.run(`DROP TABLE "${table}"`)
  for (const table of wanted.tables) db.run(table)
  for (const table of old) refill(db, changed.has(table) ? 'kept' : 'former', table)
  for (const later of wanted.later) db.run(later)
}

/** Copies the tables of which the copy lacks a column to a temporary database; returns them. */
function keepChanged(db: Database, tables: readonly string[]): ReadonlySet<string> {
  const width = (schema: string, table: string) => columnsOf(db, schema, table).length
  const changed = tables.filter((table) => width('former', table) < width('main', table))
  db.run(`ATTACH '' AS kept`)
  for (const table of changed)
    db.run(`CREATE TABLE kept."${table}" AS SELECT * FROM main."${table}"`)
  return new Set(changed)
}

/** Copies all rows of a table by the names of its columns. */
function refill(db: Database, from: 'former' | 'kept', table: string): void {
  const [columns, places] = [columnsOf(db, from, table), columnsOf(db, 'main', table)]
  const missing = columns.find((column) => !places.includes(column))
  if (missing) throw new Error(`no place for ${table}.${missing} of the database`)
  const list = columns.map((column) => `"${column}"`).join(', ')
  db.run(`INSERT INTO main."${table}" (${list}) SELECT ${list} FROM ${from}."${table}"`)
}

/** The statements that make its tables, and those that follow when they are full. */
function schemaBy(migration: string) {
  const db = new Database(':memory:')
  try {
    db.run(migration)
    const names = tablesOf(db)
    return {
      tables: entriesOf(db, 'table').flatMap(({ name, sql }) => (names.includes(name) ? sql : [])),
      later: ['index', 'trigger'].flatMap((kind) => entriesOf(db, kind).map(({ sql }) => sql)),
    }
  } finally {
    db.close()
  }
}

/** Tables with rows of their own, each after those that it refers to. */
const tablesOf = (db: Database): string[] => {
  const own = db
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_list WHERE type = 'table'`)
    .all()
    .map(({ name }) => name)
  const names = entriesOf(db, 'table').map(({ name }) => name)
  return names.filter((name) => own.includes(name) && name !== 'migration')
}

/** In the order in which they were made, without those that SQLite made by itself. */
const entriesOf = (db: Database, type: string) =>
  db
    .query<{ name: string; sql: string }, [string]>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = ? AND sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid`,
    )
    .all(type)

const columnsOf = (db: Database, schema: string, table: string) =>
  db
    .query<{ name: string }, [string, string]>('SELECT name FROM pragma_table_info(?, ?)')
    .all(table, schema)
    .map(({ name }) => name)

/** Before the first migration, in its transaction: what it makes lies in a schema of its own. */
export const REBUILD_SERVER = `
CREATE SCHEMA moonbase_0_1;
SELECT set_config('search_path', 'moonbase_0_1, ' || current_setting('search_path'), true)`

/**
 * After it: fills the new tables, each after those that it refers to, which were made earlier, and
 * puts them in the places of the old ones. Fails when they lack a column of the old.
 */
export const REBUILT_SERVER = `
DO $do$
DECLARE
  home TEXT := (current_schemas(false))[2];
  fresh REGNAMESPACE := 'moonbase_0_1';
  one RECORD;
  columns TEXT;
BEGIN
  -- A table whose rows are to be checked at the end of the transaction cannot be altered before it.
  SET CONSTRAINTS ALL IMMEDIATE;
  FOR one IN SELECT relname AS name FROM pg_class
    WHERE relnamespace = fresh AND relkind = 'r'
      AND to_regclass(format('%I.%I', home, relname)) IS NOT NULL ORDER BY oid
  LOOP
    SELECT string_agg(quote_ident(attname), ', ') INTO columns FROM pg_attribute
    WHERE attrelid = format('%I.%I', home, one.name)::regclass AND attnum > 0 AND NOT attisdropped;
    EXECUTE format('ALTER TABLE %s.%I DISABLE TRIGGER USER', fresh, one.name);
    EXECUTE format('INSERT INTO %s.%I (%s) OVERRIDING SYSTEM VALUE SELECT %3$s FROM %I.%2$I',
      fresh, one.name, columns, home);
    EXECUTE format('ALTER TABLE %s.%I ENABLE TRIGGER USER', fresh, one.name);
  END LOOP;
  FOR one IN SELECT relname AS name, format('%s.%I', fresh, relname) AS place FROM pg_class
    WHERE relnamespace = fresh AND relkind = 'S'
      AND to_regclass(format('%I.%I', home, relname)) IS NOT NULL
  LOOP
    EXECUTE format('SELECT setval(%L, last_value, is_called) FROM %I.%I',
      one.place, home, one.name);
  END LOOP;
  FOR one IN SELECT relname AS name FROM pg_class WHERE relnamespace = fresh AND relkind = 'r'
  LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I.%I CASCADE', home, one.name);
    EXECUTE format('ALTER TABLE %s.%I SET SCHEMA %I', fresh, one.name, home);
  END LOOP;
  FOR one IN SELECT relname AS name FROM pg_class WHERE relnamespace = fresh AND relkind = 'S'
  LOOP
    EXECUTE format('DROP SEQUENCE IF EXISTS %I.%I', home, one.name);
    EXECUTE format('ALTER SEQUENCE %s.%I SET SCHEMA %I', fresh, one.name, home);
  END LOOP;
  FOR one IN SELECT format('%I(%s)', proname, pg_get_function_identity_arguments(oid)) AS name
    FROM pg_proc WHERE pronamespace = fresh
  LOOP
    EXECUTE format('DROP FUNCTION IF EXISTS %I.%s', home, one.name);
    EXECUTE format('ALTER FUNCTION %s.%s SET SCHEMA %I', fresh, one.name, home);
  END LOOP;
  EXECUTE format('DROP FUNCTION %I.count_log_row()', home);
  PERFORM set_config('search_path', substr(current_setting('search_path'), 15), true);
  DROP SCHEMA moonbase_0_1;
END
$do$`
