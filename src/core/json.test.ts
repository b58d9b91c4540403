import { expect, test } from 'bun:test'
import { parseUntrustedJson } from './json.ts'
import { JSON_DEPTH_MAX, JSON_SIGNS_MAX } from './limits/machine.ts'

const nested = (depth: number, text = '') => `${'['.repeat(depth)}${text}${']'.repeat(depth)}`
const LONG = JSON.stringify('长'.repeat(10_000))

test.each([
  '{"a":[1,"\\"[[[",{"b":null}]}',
  nested(JSON_DEPTH_MAX, LONG),
  `{"a":${LONG},"b":"${'\\\\'.repeat(9_999)}","c":"${'\\"'.repeat(9_999)}"}`,
  JSON.stringify('[{,'.repeat(JSON_SIGNS_MAX)),
  `[${'"[",'.repeat(10_000)}1]`,
  ' '.repeat(10_000) + nested(3),
])('parseUntrustedJson reads valid JSON as JSON.parse does', (text) => {
  expect(parseUntrustedJson(text)).toEqual(JSON.parse(text))
})

test.each([
  ['nests one too deep', nested(JSON_DEPTH_MAX + 1, LONG)],
  ['nests without end', '['.repeat(10_000_000)],
  ['nests by objects', '{"a":'.repeat(100_000)],
  ['nests behind an escaped quote', `["\\"",${nested(JSON_DEPTH_MAX, LONG)}]`],
  ['nests behind an escaped backslash', `["\\\\",${nested(JSON_DEPTH_MAX, LONG)}]`],
  ['has too many values', `[${'[],'.repeat(JSON_SIGNS_MAX)}1]`],
  ['has too many keys', `{${'"a":1,'.repeat(JSON_SIGNS_MAX)}"b":1}`],
  ['never closes a string', `"${'a'.repeat(10_000)}`],
  ['is none', 'x'.repeat(10_000)],
])('parseUntrustedJson refuses a text that %s', (_, text) => {
  expect(() => parseUntrustedJson(text)).toThrow(SyntaxError)
})

test('NUL becomes the replacement character, and an escaped backslash before u0000 stays', () => {
  const parsed = [
    [String.raw`"a\u0000b"`, 'a\ufffdb'],
    [String.raw`{"\u0000":["\\u0000","\\\u0000"]}`, { '\ufffd': ['\\u0000', '\\\ufffd'] }],
    [String.raw`"\"\\\u0000\n"`, '"\\\ufffd\n'],
  ] as const
  for (const [text, value] of parsed) expect(parseUntrustedJson(text)).toEqual(value)
})
