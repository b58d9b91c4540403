import { expect, test } from 'bun:test'
import { alternate } from './rounds.ts'

test('every measure runs once a round, in rotating order', async () => {
  const order: string[] = []
  const measure = (name: string) => async () => order.push(name)
  const results = await alternate(3, { a: measure('a'), b: measure('b') })
  expect(order.join('')).toBe('abbaab')
  expect(results).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
})

test('a measure that is left out has no values', async () => {
  const results = await alternate(2, { here: async () => 1, gone: null })
  expect(results).toEqual({ here: [1, 1], gone: [] })
})
