import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { tempFolder } from '../../test/support/temp.ts'
import { DiskFault } from '../core/errors.ts'
import { openSpool } from './spool.ts'

async function* pieces(...texts: (string | Error)[]) {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

describe('the spool', () => {
  test('a file is written in pieces, for this user alone, and removed', async () => {
    using folder = tempFolder()
    const spool = openSpool(folder.path)
    expect(await spool.write('a', pieces('甲', '乙', ''))).toBe(6)
    expect(Buffer.from(spool.map('a')).toString()).toBe('甲乙')
    const { path } = spool.file('a')
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['甲乙', 0o600])
    expect(statSync(folder.file('spool')).mode & 0o777).toBe(0o700)
    expect([spool.has('a'), openSpool(folder.path).found]).toEqual([true, ['a']])
    spool.remove('a')
    spool.remove('a')
    expect(spool.has('a')).toBe(false)
  })

  test.each([
    ['that breaks off', new Error('left'), Error],
    ['that fills the disk', Object.assign(new Error('full'), { code: 'ENOSPC' }), DiskFault],
  ])('nothing is left of a file %s', async (_name, error, thrown) => {
    using folder = tempFolder()
    const spool = openSpool(folder.path)
    await expect(spool.write('a', pieces('甲', error))).rejects.toBeInstanceOf(thrown)
    expect(readdirSync(folder.file('spool'))).toEqual([])
  })
})
