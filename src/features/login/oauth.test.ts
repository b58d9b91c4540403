import { expect, test } from 'bun:test'
import { safePath } from './oauth.ts'

const paths: [string | null, string][] = [
  [null, '/'],
  ['', '/'],
  ['/', '/'],
  ['/app/keys?tab=1#top', '/app/keys?tab=1#top'],
  ['/auth/native/authorize?code_challenge=x', '/auth/native/authorize?code_challenge=x'],
  ['app', '/'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['///evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['\\\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['/.//evil.example', '/'],
  ['/x/..//evil.example', '/'],
  ['/.\\/evil.example', '/'],
  ['/%2e//evil.example', '/'],
  ['javascript:alert(1)', '/'],
  [' //evil.example', '/'],
  ['/a\r\nset-cookie: x=y', '/aset-cookie:%20x=y'],
  [`/${'a'.repeat(3_000)}`, '/'],
]
for (const [text, path] of paths) {
  test(`${JSON.stringify(text)?.slice(0, 60)} is turned into the safe path ${path}`, () => {
    expect(safePath(text)).toBe(path)
    expect(new URL(safePath(text), 'https://own.example').origin).toBe('https://own.example')
  })
}
