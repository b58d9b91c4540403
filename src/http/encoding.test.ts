import { expect, test } from 'bun:test'
import { preferredEncoding } from './encoding.ts'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['BR', 'br'],
  ['br;q=0.000', null],
  ['identity', null],
  ['', null],
] as const)('%p is answered in %p', (header, expected) => {
  const request = new Request('http://localhost/', { headers: { 'accept-encoding': header } })
  expect(preferredEncoding(request)).toBe(expected)
})
