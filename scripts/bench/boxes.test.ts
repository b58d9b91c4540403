import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { tempFolder } from '../../test/support/temp.ts'
import { UsageError } from '../usage.ts'
import { openBox } from './boxes.ts'

const HOUR_MS = 3_600_000

function kept() {
  const boxes = tempFolder()
  let fills = 0
  const open = async (tables: readonly string[] = ['a', 'b'], now = 1_000) => {
    const options = { boxes: boxes.path, name: 'small', now, tables }
    using box = await openBox(options, async (folder) => {
      fills += 1
      await Bun.write(`${folder}/data`, 'x')
      return { fills }
    })
    return box
  }
  return { open, fills: () => fills, boxes, [Symbol.dispose]: boxes[Symbol.dispose] }
}

test('a kept box is filled once, and tells what its filling has told', async () => {
  using box = kept()
  const first = await box.open()
  expect(await box.open(['a', 'b'], 5_000)).toMatchObject({
    ...{ folder: first.folder, facts: { fills: 1 }, filledAt: 1_000 },
  })
  expect(box.fills()).toBe(1)
  expect(existsSync(box.boxes.file('small', 'data'))).toBe(true)
})

test('a box that was filled with other tables is refused', async () => {
  using box = kept()
  const { folder } = await box.open()
  await expect(box.open(['a', 'c'])).rejects.toThrow(UsageError)
  await expect(box.open(['a', 'b', 'c'])).rejects.toThrow(
    `${folder} was filled by another version, with other tables or contents; remove it, and it is filled anew`,
  )
})

test('a box whose log is pruned by now is refused', async () => {
  using box = kept()
  await box.open()
  await expect(box.open(['a', 'b'], 21 * HOUR_MS)).rejects.toThrow('is older than 20 hours')
})

test('a box that was left half filled is filled anew', async () => {
  using boxes = tempFolder()
  await Bun.write(boxes.file('small', 'half'), 'x')
  const options = { boxes: boxes.path, name: 'small', now: 1_000, tables: ['a'] }
  using box = await openBox(options, async () => null)
  expect(existsSync(`${box.folder}/half`)).toBe(false)
})

test('a box that nobody keeps is removed', async () => {
  let path = ''
  {
    using box = await openBox({ boxes: null, name: 'small', now: 1_000 }, async (folder) => folder)
    path = box.folder
    expect(existsSync(path)).toBe(true)
  }
  expect(existsSync(path)).toBe(false)
})
