import { expect, test } from 'bun:test'
import { merged } from './merged.ts'

test('what was typed stays, and what was not follows what is stored', () => {
  const opened = { name: 'a', text: 'b' }
  const both = merged(opened, { name: 'a', text: 'mine' }, { name: 'theirs', text: 'b' })
  expect(both).toEqual({ value: { name: 'theirs', text: 'mine' }, lost: [] })
  const over = merged(opened, { name: 'a', text: 'mine' }, { name: 'a', text: 'theirs' })
  expect(over).toEqual({ value: { name: 'a', text: 'mine' }, lost: ['text'] })
  // Both meant the same.
  expect(merged(opened, { name: 'a', text: 'c' }, { name: 'a', text: 'c' }).lost).toEqual([])
})
