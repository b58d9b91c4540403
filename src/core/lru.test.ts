import { expect, test } from 'bun:test'
import { leastRecentlyUsed } from './lru.ts'

const texts = (sizeMax: number) => leastRecentlyUsed<string>(sizeMax, (text) => text.length)

test('the value unused for longest goes when there is no room', () => {
  const kept = texts(6)
  kept.put('a', 'aa')
  kept.put('b', 'bb')
  kept.put('c', 'cc')
  kept.get('a')
  kept.put('d', 'dd')
  expect(['a', 'b', 'c', 'd'].map((name) => kept.get(name))).toEqual(['aa', undefined, 'cc', 'dd'])
})

test('a value put again counts once, and a dropped one no more', () => {
  const kept = texts(6)
  for (let i = 0; i < 10; i++) kept.put('a', 'aaa')
  kept.put('b', 'bbb')
  expect(kept.get('a')).toBe('aaa')
  kept.drop('a')
  kept.put('c', 'ccc')
  expect([kept.get('b'), kept.get('c')]).toEqual(['bbb', 'ccc'])
})

test('a value larger than all the room is not kept, and nothing is after clear', () => {
  const kept = texts(6)
  kept.put('a', 'a'.repeat(7))
  expect(kept.get('a')).toBeUndefined()
  kept.put('b', 'bb')
  kept.clear()
  expect(kept.get('b')).toBeUndefined()
})
