import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { createTtlMap, leastRecentlyUsed } from './bounded-maps.ts'

const texts = (sizeMax: number) => leastRecentlyUsed<string>(sizeMax, (text) => text.length)

test('the least recently used value is dropped when the cache is full', () => {
  const kept = texts(6)
  kept.put('a', 'aa')
  kept.put('b', 'bb')
  kept.put('c', 'cc')
  kept.get('a')
  kept.put('d', 'dd')
  expect(['a', 'b', 'c', 'd'].map((name) => kept.get(name))).toEqual(['aa', undefined, 'cc', 'dd'])
})

test('a cached value put again counts once, and a dropped one no more', () => {
  const kept = texts(6)
  for (let i = 0; i < 10; i++) kept.put('a', 'aaa')
  kept.put('b', 'bbb')
  expect(kept.get('a')).toBe('aaa')
  kept.drop('a')
  kept.put('c', 'ccc')
  expect([kept.get('b'), kept.get('c')]).toEqual(['bbb', 'ccc'])
})

test('a value larger than the cache is not kept, and clear empties it', () => {
  const kept = texts(6)
  kept.put('a', 'a'.repeat(7))
  expect(kept.get('a')).toBeUndefined()
  kept.put('b', 'bb')
  kept.clear()
  expect(kept.get('b')).toBeUndefined()
})

test('a map value expires after its time', () => {
  const clock = fakeClock()
  const held = createTtlMap<number>(clock, 1_000, 10)
  held.set('a', 1)
  clock.advance(999)
  expect(held.get('a')).toBe(1)
  clock.advance(1)
  expect(held.get('a')).toBeNull()
})

test('setting a map value again restarts its time', () => {
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
