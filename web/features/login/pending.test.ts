import { expect, test } from 'bun:test'
import { readPending, savePending } from './pending.ts'

function memory(): Storage {
  const held = new Map<string, string>()
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
    removeItem: (key: string) => void held.delete(key),
  } as unknown as Storage
}

test('the sign-in page remembers the address as long as its code is valid', () => {
  const storage = memory()
  expect(readPending(storage, 1_000)).toBe(null)
  savePending(storage, 'a@example.com', 1_000)
  expect(readPending(storage, 300_999)).toBe('a@example.com')
  expect(readPending(storage, 301_000)).toBe(null)
  savePending(storage, null, 2_000)
  expect(readPending(storage, 2_000)).toBe(null)
})
