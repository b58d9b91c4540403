import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import { type Statement, sql } from '../db.ts'
import { createDiskHealth, createWriteQueue } from './writer-thread.ts'

const SMALL = [sql`INSERT INTO item VALUES (${1})`]
const document = (): Statement[] =>
  Array.from({ length: 80 }, () => sql`INSERT INTO word VALUES (${'词 '.repeat(500)})`)

/** What is taken from the queue until it is empty, by the names of the batches. */
function taken(names: readonly string[]): string[][] {
  const queue = createWriteQueue<{ name: string; batch: readonly Statement[] }>()
  for (const name of names) queue.add({ name, batch: name.startsWith('doc') ? document() : SMALL })
  const groups: string[][] = []
  for (let group = queue.next(); group.length > 0; group = queue.next()) {
    groups.push(group.map((item) => item.name))
  }
  return groups
}

describe('the queue of the writer', () => {
  test('the write queue groups small batches in the order of their arrival', () => {
    expect(taken(['a', 'b', 'c'])).toEqual([['a', 'b', 'c']])
  })

  test('the write queue groups a limited number of batches', () => {
    const names = Array.from({ length: 300 }, (_, i) => String(i))
    expect(taken(names).map((group) => group.length)).toEqual([256, 44])
  })

  test('the write queue runs large batches one by one, behind small ones', () => {
    expect(taken(['doc 1', 'doc 2', 'a', 'doc 3', 'b'])).toEqual([
      ['a', 'b'],
      ['doc 1'],
      ['doc 2'],
      ['doc 3'],
    ])
  })

  test('neither small nor large batches wait for more than one of the other', () => {
    const queue = createWriteQueue<{ name: string; batch: readonly Statement[] }>()
    const seen: string[] = []
    queue.add({ name: 'doc', batch: document() })
    queue.add({ name: 'doc', batch: document() })
    for (let round = 0; round < 4; round++) {
      queue.add({ name: 'small', batch: SMALL })
      seen.push(
        queue
          .next()
          .map((item) => item.name)
          .join(' '),
      )
    }
    expect(seen).toEqual(['small', 'doc', 'small small', 'doc'])
  })
})

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
