import { expect, test } from 'bun:test'
import { sizeOf } from './sizes.ts'

test('a file of the most megabytes that are taken is told as just so many', () => {
  expect(sizeOf(20 * 1024 * 1024, 'en-GB')).toBe('20 MB')
  expect(sizeOf(1023, 'en-GB')).toBe('1,023 byte')
  expect(sizeOf(1024, 'en-GB')).toBe('1 kB')
  expect(sizeOf(0, 'en-GB')).toBe('0 byte')
})
