import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { createExpiring } from './ttl-map.ts'

test('what has ended is gone', () => {
  const clock = fakeClock()
  const held = createExpiring<number>(clock, 1_000, 10)
  held.set('a', 1)
  clock.advance(999)
  expect(held.get('a')).toBe(1)
  clock.advance(1)
  expect(held.get('a')).toBeNull()
})

test('setting again begins the time anew', () => {
  const clock = fakeClock()
  const held = createExpiring<number>(clock, 1_000, 10)
  held.set('a', 1)
  clock.advance(600)
  held.set('a', 2)
  clock.advance(600)
  expect(held.get('a')).toBe(2)
})

test('when full, the oldest makes room', () => {
  const clock = fakeClock()
  const held = createExpiring<number>(clock, 1_000, 3)
  for (const [n, name] of ['a', 'b', 'c'].entries()) held.set(name, n)
  held.set('a', 9)
  held.set('d', 3)
  expect(['a', 'b', 'c', 'd'].map(held.get)).toEqual([9, null, 2, 3])
})
