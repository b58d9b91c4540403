import { expect, test } from 'bun:test'
import { DiskFault, internalError } from '../../core/errors.ts'
import { errorOf, faultOf } from './fault.ts'

const sqliteError = (code: string) => Object.assign(new Error('it failed'), { code })
/** As it arrives at the thread that asked for the write. */
const arrived = (code: string) => errorOf(faultOf(sqliteError(code)))

test('tells a disk that takes nothing from a statement that is wrong', () => {
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

test('a caller is told that the disk is full, and nothing else of a fault', () => {
  const { code, status, message } = internalError(arrived('SQLITE_FULL'))
  expect({ code, status }).toEqual({ code: 'disk_full', status: 500 })
  expect(message).toContain('空间已满')
  expect(internalError(arrived('SQLITE_IOERR_WRITE')).message).toBe('服务器内部错误')
})
