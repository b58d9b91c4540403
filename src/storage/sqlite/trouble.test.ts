import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import { createTrouble } from './disk-health.ts'

const PATH = join(import.meta.dir, 'moonbase.db')
const fault = (trouble: DiskFault['trouble']) => new DiskFault(trouble, 'SQLITE_X', 'refused')
const never = () => Promise.reject(new Error('tried'))

describe('the trouble with a disk', () => {
  test('is none before a write was refused, nor for a statement that was wrong', async () => {
    const trouble = createTrouble(PATH, never)
    expect(await trouble.now()).toBeNull()
    trouble.refused(new Error('UNIQUE constraint failed'))
    expect(await trouble.now()).toBeNull()
  })

  test('ends with the next write', async () => {
    const trouble = createTrouble(PATH, never)
    trouble.refused(fault('disk_error'))
    expect(await trouble.now()).toBe('disk_error')
    trouble.written()
    expect(await trouble.now()).toBeNull()
  })

  test('that it was full ends when there is room, and nobody has to write', async () => {
    const trouble = createTrouble(PATH, never)
    trouble.refused(fault('disk_full'))
    expect(await trouble.now()).toBeNull()
  })

  test('that it failed ends when a trial does not', async () => {
    const trouble = createTrouble(PATH, async () => trouble.written())
    trouble.refused(fault('disk_error'))
    expect(await trouble.now()).toBeNull()
  })
})
