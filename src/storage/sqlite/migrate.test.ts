import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../migrations/index.ts'
import { migrate, UnusableFileError } from './migrate.ts'

const FIRST = { name: '0001-a', sql: 'CREATE TABLE a (x TEXT) STRICT; CREATE TABLE b (y TEXT);' }
const SECOND = { name: '0002-b', sql: "ALTER TABLE a ADD COLUMN z TEXT DEFAULT 'new';" }
const BROKEN = { name: '0003-c', sql: 'CREATE TABLE c (x TEXT); SELECT no_such_function();' }

const freshFile = () => ({
  path: join(mkdtempSync(join(tmpdir(), 'moonbase-test-')), 'data', 'test.db'),
  extensions: [],
})
const rows = (path: string, query: string) => {
  const db = new Database(path)
  try {
    return db.query(query).all()
  } finally {
    db.close()
  }
}

describe('migrations', () => {
  test('migrations create a new database without a copy', () => {
    const file = freshFile()
    expect(migrate(file, [FIRST, SECOND], 's')).toBeNull()
    expect(rows(file.path, 'SELECT name FROM migration')).toEqual([
      { name: '0001-a' },
      { name: '0002-b' },
    ])
    expect(migrate(file, [FIRST, SECOND], 's')).toBeNull()
  })

  test('migrations upgrade any version after a copy of the old database', () => {
    const file = freshFile()
    migrate(file, [FIRST], 's1')
    const db = new Database(file.path)
    db.run("INSERT INTO a (x) VALUES ('kept')")
    db.close()
    const copy = migrate(file, [FIRST, SECOND], 's2')
    expect(rows(file.path, 'SELECT * FROM a')).toEqual([{ x: 'kept', z: 'new' }])
    expect(copy).toContain('s2')
    expect(rows(String(copy), 'SELECT * FROM a')).toEqual([{ x: 'kept' }])
  })

  test('a failing migration leaves the database unchanged', () => {
    const file = freshFile()
    migrate(file, [FIRST], 's1')
    expect(() => migrate(file, [FIRST, SECOND, BROKEN], 's2')).toThrow()
    expect(rows(file.path, 'SELECT name FROM migration')).toEqual([{ name: '0001-a' }])
    expect(rows(file.path, 'SELECT * FROM a')).toEqual([])
    expect(rows(file.path, "SELECT name FROM sqlite_master WHERE name = 'c'")).toEqual([])
  })

  test('migrations refuse a database of a newer program', () => {
    const file = freshFile()
    migrate(file, [FIRST, SECOND], 's1')
    expect(() => migrate(file, [FIRST], 's2')).toThrow(UnusableFileError)
  })

  test('the migrations of the product are those of its folder, in order', () => {
    const files = readdirSync(join(import.meta.dir, '..', 'migrations'))
    const names = files.filter((name) => name.endsWith('.sql')).map((name) => name.slice(0, -4))
    expect(MIGRATIONS.map(({ name }) => name)).toEqual(names.sort())
  })
})
