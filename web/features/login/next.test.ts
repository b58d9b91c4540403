import { expect, test } from 'bun:test'
import { safeNext } from './next.ts'

const ORIGIN = 'https://moon.example'

test.each([
  ['/app/logs?status=4xx#row', '/app/logs?status=4xx#row'],
  ['/auth/native/authorize?code_challenge=a', '/auth/native/authorize?code_challenge=a'],
  ['//evil.example/x', '/app'],
  ['/\\evil.example', '/app'],
  ['/\t/evil.example', '/app'],
  ['/\n\\evil.example', '/app'],
  ['https://evil.example/', '/app'],
  ['https://moon.example/app', '/app'],
  ['javascript:alert(1)', '/app'],
  ['/.//evil.example', '/app'],
  ['/a/..//evil.example', '/app'],
  ['app', '/app'],
  ['', '/app'],
  [undefined, '/app'],
  [7, '/app'],
])('the next path %p is turned into the safe path %p', (next, expected) => {
  expect(safeNext(next, ORIGIN)).toBe(expected)
})
