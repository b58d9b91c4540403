import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { createTtlMap } from './ttl-map.ts'

test('a value is gone when its time has passed', () => {
  const clock = fakeClock()
  const held = createTtlMap<number>(clock, 1_000, 10)
  held.set('a', 1)
  clock.advance(999)
  expect(held.get('a')).toBe(1)
  clock.advance(1)
  expect(held.get('a')).toBeNull()
})

test('setting a value again restarts its time', () => {
  const clock = fakeClock()
  const held = createTtlMap<number>(clock, 1_000, 10)
  held.set('a', 1)
  clock.advance(600)
  held.set('a', 2)
  clock.advance(600)
  expect(held.get('a')).toBe(2)
})

test('a full map drops its oldest value', () => {
  const clock = fakeClock()
  const held = createTtlMap<number>(clock, 1_000, 3)
  for (const [n, name] of ['a', 'b', 'c'].entries()) held.set(name, n)
  held.set('a', 9)
  held.set('d', 3)
  expect(['a', 'b', 'c', 'd'].map(held.get)).toEqual([9, null, 2, 3])
})
