import { expect, test } from 'bun:test'
import { oneByOne } from './one-by-one.ts'

test('work of one name waits for its turn, whatever becomes of the work before', async () => {
  const inTurn = oneByOne()
  const begun: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = inTurn('a', async () => {
    begun.push('first')
    await gate.promise
    throw new Error('no')
  })
  const second = inTurn('a', async () => {
    begun.push('second')
    return 2
  })
  await inTurn('b', async () => begun.push('other'))
  expect(begun).toEqual(['first', 'other'])
  gate.resolve()
  await expect(first).rejects.toThrow('no')
  expect(await second).toBe(2)
  expect(begun).toEqual(['first', 'other', 'second'])
})
