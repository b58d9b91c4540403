import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { askPostgres } from '../support/postgres-client.ts'

/**
 * What SQLite's tables are compared by. The indexes of words and vectors are not: they are other
 * tables in each database.
 */
const TABLES = `sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE '%\\_word%' ESCAPE '\\'
  AND t.name NOT LIKE 'kb_vector%'`

let pg: TestPostgres
const file = new Database(':memory:')
beforeAll(async () => {
  pg = await startPostgres('all')
  for (const { sql } of MIGRATIONS) file.run(sql)
})
afterAll(async () => {
  file.close()
  await pg[Symbol.asyncDispose]()
})

const tables = () => ofFile(`SELECT t.name AS line FROM ${TABLES}`)
const ofFile = (text: string) =>
  file
    .query<{ line: string }, []>(text)
    .all()
    .map(({ line }) => plain(line))
    .sort()

/** The lines about tables that both databases have. */
async function ofServer(text: string): Promise<string[]> {
  const rows = await askPostgres<{ line: string }>(pg.url, text)
  const both = new Set(tables())
  return rows
    .map(({ line }) => plain(line))
    .filter((line) => both.has(line.split(' ')[0] ?? ''))
    .sort()
}

/** Without what only one of the two writes: types of constants, quotes, outer brackets. */
const plain = (line: string) =>
  line
    .replaceAll('::text', '')
    .replaceAll('"', '')
    // SQLite's list of foreign keys does not tell it.
    .replace(' DEFERRABLE INITIALLY DEFERRED', '')
    .replace(/\bWHERE \((.*)\)$/, 'WHERE $1')
    .replaceAll(/\s+/g, ' ')
    .trim()

test('both databases have the same defaults', async () => {
  const wanted = ofFile(`
    SELECT c.line FROM (SELECT t.name AS "table", p.name || ' ' || p.dflt_value AS value,
        t.name || ' ' || p.name || ' ' || p.dflt_value AS line
      FROM sqlite_schema t JOIN pragma_table_info(t.name) p WHERE t.type = 'table') c
    WHERE c.line IS NOT NULL AND c."table" IN (SELECT t.name FROM ${TABLES})`)
  const there = await ofServer(`
    SELECT table_name || ' ' || column_name || ' ' || column_default AS line
    FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_default IS NOT NULL
      AND column_default NOT LIKE 'nextval(%'`)
  expect(wanted.length).toBeGreaterThan(15)
  expect(there).toEqual(wanted)
})

test('both databases have the same indexes and unique columns', async () => {
  const wanted = ofFile(`
    SELECT i.name || ' ' || CASE i.is_unique WHEN 1 THEN 'unique ' ELSE '' END || '(' ||
      (SELECT group_concat(x.name || CASE x."desc" WHEN 1 THEN ' DESC' ELSE '' END, ', ')
        FROM pragma_index_xinfo(i."index") x WHERE x.key = 1) || ')' ||
      coalesce((SELECT substr(s.sql, instr(s.sql, ' WHERE ')) FROM sqlite_schema s
        WHERE s.name = i."index" AND s.sql LIKE '% WHERE %'), '') AS line
    FROM (SELECT t.name, l.name AS "index", l."unique" AS is_unique
      FROM sqlite_schema t JOIN pragma_index_list(t.name) l
      WHERE t.type = 'table' AND l.origin <> 'pk') i
    WHERE i.name IN (SELECT t.name FROM ${TABLES})`)
  const there = await ofServer(`
    SELECT c.relname || ' ' || CASE WHEN indisunique THEN 'unique ' ELSE '' END ||
      regexp_replace(pg_get_indexdef(indexrelid), '^.* USING btree ', '') AS line
    FROM pg_index JOIN pg_class c ON c.oid = indrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND NOT indisprimary`)
  expect(wanted.length).toBeGreaterThan(25)
  expect(there).toEqual(wanted)
})

test('both databases have the same foreign keys', async () => {
  const wanted = ofFile(`
    SELECT k.name || ' FOREIGN KEY (' || group_concat(k."from", ', ') || ') REFERENCES ' ||
      k."table" || '(' || group_concat(k."to", ', ') || ') ON DELETE ' || k.on_delete AS line
    FROM (SELECT t.name, f.id, f."from", f."table", f."to", f.on_delete
      FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'
      ORDER BY t.name, f.id, f.seq) k
    WHERE k.name IN (SELECT t.name FROM ${TABLES}) GROUP BY k.name, k.id`)
  const there = await ofServer(`
    SELECT c.relname || ' ' || pg_get_constraintdef(k.oid) AS line
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.connamespace = current_schema()::regnamespace AND k.contype = 'f'`)
  expect(wanted.length).toBeGreaterThan(20)
  expect(there).toEqual(wanted)
})

test('both databases have the same checks', async () => {
  const texts = file.query<{ name: string; sql: string }, []>(`SELECT t.name, t.sql FROM ${TABLES}`)
  const wanted = texts
    .all()
    .flatMap(({ name, sql }) =>
      [...sql.matchAll(/\bCHECK\s*\(((?:[^()]|\([^()]*\))*)\)/gi)].map(([, check = '']) =>
        plain(`${name} CHECK (${check.trim()})`),
      ),
    )
  const there = await ofServer(`
    SELECT c.relname || ' ' ||
      regexp_replace(pg_get_constraintdef(k.oid), '^CHECK \\(\\((.*)\\)\\)$', 'CHECK (\\1)') AS line
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.connamespace = current_schema()::regnamespace AND k.contype = 'c'`)
  expect(there).toEqual(wanted.sort())
})
