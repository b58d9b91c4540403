import { expect, test } from 'bun:test'
import { preferredEncoding } from './console-pages.ts'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['BR', 'br'],
  ['br;q=0.000', null],
  ['identity', null],
  ['gzip ; q=0 , br ; q=1', 'br'],
  ['', null],
] as const)('%p is answered in %p', (header, expected) => {
  const request = new Request('http://localhost/', { headers: { 'accept-encoding': header } })
  expect(preferredEncoding(request)).toBe(expected)
})

test.each(['a%b, br', 'br;%b', 'br %; a'])(
  '%p is parsed in linear time as an encoding list',
  (header) => {
    const blanks = header.replace('%', ' '.repeat(1_000_000))
    const request = new Request('http://localhost/', { headers: { 'accept-encoding': blanks } })
    expect(preferredEncoding(request)).toBe('br')
  },
)
