import type { Statement } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { statSync } from 'node:fs'
import { tempFolder } from '../../../test/support/temp.ts'
import { DatabaseAway, DiskFault, internalError } from '../../core/errors.ts'
import { errorOf, faultOf, openConnection, statements } from './connection.ts'

const MIB = 1024 * 1024

test('the database log shrinks again after a long read', () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  const logBytes = () => statSync(`${file.path}-wal`).size
  const writer = openConnection(file, 'write')
  writer.run('CREATE TABLE item (bytes BLOB)')
  const write = () => writer.run('INSERT INTO item VALUES (randomblob(1000000))')

  // As a backup does.
  const holder = openConnection(file, 'read')
  holder.run('BEGIN')
  holder.query('SELECT count(*) FROM item').get()
  for (let n = 0; n < 40; n++) write()
  expect(logBytes()).toBeGreaterThan(36 * MIB)
  holder.run('COMMIT')
  holder.close()
  for (let n = 0; n < 12; n++) write()
  expect(logBytes()).toBeLessThan(20 * MIB)
  writer.close()
})

const sqliteError = (code: string) => Object.assign(new Error('it failed'), { code })
/** As it arrives at the thread that asked for the write. */
const arrived = (code: string) => errorOf(faultOf(sqliteError(code)))

test('a disk fault is distinguished from a wrong statement', () => {
  for (const [code, trouble] of [
    ['SQLITE_FULL', 'disk_full'],
    ['SQLITE_IOERR_WRITE', 'disk_error'],
    ['SQLITE_IOERR', 'disk_error'],
    ['SQLITE_READONLY_DBMOVED', 'disk_error'],
  ]) {
    expect(arrived(code ?? '')).toMatchObject({ trouble, code, message: 'it failed' })
  }
  for (const code of ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_FULLNESS', '']) {
    expect(arrived(code)).not.toBeInstanceOf(DiskFault)
  }
  expect(errorOf(faultOf('text'))).toEqual(new Error('write failed'))
})

test('the caller learns only that the disk is full', () => {
  const { code, status, message } = internalError(arrived('SQLITE_FULL'))
  expect({ code, status }).toEqual({ code: 'disk_full', status: 500 })
  expect(message).toContain('空间已满')
  expect(internalError(arrived('SQLITE_IOERR_WRITE')).message).toBe('服务器内部错误')
})

test('a file that another program holds is away, and no statement is at fault', () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  using other = openConnection(file, 'write')
  other.run('CREATE TABLE item (number INTEGER NOT NULL)')
  using ours = openConnection(file, 'write')
  ours.run('PRAGMA busy_timeout = 0')
  const fault = (write: () => unknown) => {
    try {
      write()
    } catch (error) {
      return errorOf(faultOf(error))
    }
    throw new Error('it was written')
  }
  expect(fault(() => ours.run('INSERT INTO item VALUES (NULL)'))).not.toBeInstanceOf(DatabaseAway)
  other.run('BEGIN IMMEDIATE')
  const held = fault(() => ours.run('INSERT INTO item VALUES (1)'))
  expect(held).toBeInstanceOf(DatabaseAway)
  expect(internalError(held)).toMatchObject({ code: 'database_stopped', status: 503 })
})

test('statements that are prepared and no longer used are given back', () => {
  using folder = tempFolder()
  const db = openConnection({ path: folder.file('test.db'), extensions: [] }, 'write')
  const prepare = spyOn(db, 'prepare')
  const { all, close } = statements(db, 2)
  const ask = (n: number) => all({ sql: `SELECT ${n} AS n`, args: [] })
  for (const n of [1, 2, 1, 3, 1]) expect(ask(n)).toEqual([{ n }])
  expect(prepare).toHaveBeenCalledTimes(3)
  const [first, second] = prepare.mock.results.map(({ value }) => value as Statement)
  expect(() => second?.all()).toThrow('finalized')
  expect(ask(2)).toEqual([{ n: 2 }])
  expect(prepare).toHaveBeenCalledTimes(4)
  close()
  expect(() => first?.all()).toThrow('finalized')
  db.close()
})
