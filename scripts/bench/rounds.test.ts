import { expect, test } from 'bun:test'
import { measureCase } from './rounds.ts'

const identity = (value: number) => value
const row = { measure: 'work', unit: 'ms', of: identity }

test('every probe runs once a round, in an order that turns round', async () => {
  const order: string[] = []
  const probe = (name: string) => async () => order.push(name)
  await measureCase(2, {
    probes: { a: probe('a'), b: probe('b') },
    rows: [{ ...row, product: 'a' }],
  })
  expect(order).toEqual(['a', 'b', 'b', 'a'])
})

test('a row has the values of both sides above those of the floor', async () => {
  const rows = await measureCase(1, {
    probes: { floor: async () => 1, slow: async () => 9, fast: async () => 3 },
    rows: [{ ...row, product: 'slow', reference: ['fast', 'relay'], floor: 'floor' }],
  })
  expect(rows).toMatchObject([{ product: [8], reference: { name: 'relay', values: [2] } }])
})
