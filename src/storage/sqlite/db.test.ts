import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import { createDiskHealth } from './db.ts'

const PATH = join(import.meta.dir, 'moonbase.db')
const fault = (trouble: DiskFault['trouble'], code = 'SQLITE_X') =>
  new DiskFault(trouble, code, 'refused')
const never = () => Promise.reject(new Error('probed'))

test('a disk is well before a write failed, and after a statement that was wrong', async () => {
  const health = createDiskHealth(PATH, never)
  expect(await health.trouble()).toBeNull()
  health.failed(new Error('UNIQUE constraint failed'))
  expect(await health.trouble()).toBeNull()
})

test('a disk that failed is well after the next write', async () => {
  const health = createDiskHealth(PATH, never)
  health.failed(fault('disk_error'))
  expect(await health.trouble()).toBe('disk_error')
  health.written()
  expect(await health.trouble()).toBeNull()
})

test('a disk that was full is well once there is room, without a write', async () => {
  const health = createDiskHealth(PATH, never)
  health.failed(fault('disk_full'))
  expect(await health.trouble()).toBeNull()
})

test('a disk that failed is well after a probe write that does not', async () => {
  const health = createDiskHealth(PATH, async () => health.written())
  health.failed(fault('disk_error'))
  expect(await health.trouble()).toBeNull()
})

test.each(['SQLITE_CORRUPT', 'SQLITE_CORRUPT_VTAB', 'SQLITE_NOTADB'])(
  'a damaged file (%s) stays damaged whatever is written to it',
  async (code) => {
    const health = createDiskHealth(PATH, async () => health.written())
    health.failed(fault('disk_error', code))
    health.written()
    expect(await health.trouble()).toBe('disk_error')
  },
)
