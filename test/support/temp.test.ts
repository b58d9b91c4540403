import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { tempFolder } from './temp.ts'

test('a temp folder is new, writable and gone after its scope', async () => {
  let path = ''
  {
    using folder = tempFolder()
    using other = tempFolder()
    path = folder.path
    expect(other.path).not.toBe(path)
    await Bun.write(folder.file('deep', 'a.txt'), 'a')
    expect(existsSync(folder.file('deep', 'a.txt'))).toBe(true)
  }
  expect(existsSync(path)).toBe(false)
})
