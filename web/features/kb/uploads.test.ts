import { expect, test } from 'bun:test'
import { textOf } from './uploads.ts'

const bytes = (...values: number[]) => new Uint8Array(values).buffer

test.each([
  ['UTF-8', new TextEncoder().encode('你好 Moon 🌙').buffer, '你好 Moon 🌙'],
  ['UTF-8 with a mark', bytes(0xef, 0xbb, 0xbf, 0x61), 'a'],
  ['GBK', bytes(0xc4, 0xe3, 0xba, 0xc3), '你好'],
  ['UTF-16 little end first', bytes(0xff, 0xfe, 0x60, 0x4f), '你'],
  ['UTF-16 big end first', bytes(0xfe, 0xff, 0x4f, 0x60), '你'],
  ['nothing', bytes(), ''],
])('an uploaded file in %s is read', (_name, given, text) => {
  expect(textOf(given as ArrayBuffer)).toBe(text)
})
