import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../core/crypto.ts'
import { hashOfInput, newCode } from './code.ts'

describe('newCode', () => {
  test('an activation code has 16 characters of base32 without L', () => {
    for (let n = 0; n < 200; n++) expect(newCode(randomBytes)).toMatch(/^[A-KM-Z2-7]{16}$/)
  })

  test('every letter of an activation code is equally likely', () => {
    let given = 0
    const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => 240 + (given++ % 16))
    // 248 to 255 would favour the first letters, so they are passed over.
    expect(newCode(random)).toBe('YZ234567YZ234567')
  })
})

describe('hashOfInput', () => {
  const code = 'ABIO2345CDEF67GB'
  for (const typed of [
    code,
    'abio2345cdef67gb',
    '  ABIO-2345-CDEF-67GB\n',
    'ABIO 2345 CDEF 67GB',
    'AB102345CDEF67G8',
    'abl02345cdef67g8',
    'ＡＢＩＯ２３４５ＣＤＥＦ６７ＧＢ',
    'ABIO—2345–CDEF−67GB',
  ]) {
    test(`${JSON.stringify(typed)} is read as the code`, () =>
      expect(hashOfInput(typed)).toBe(sha256Hex(code)))
  }

  for (const typed of ['', 'ABIO2345CDEF67G', `${code}A`, 'ABIO2345CDEF67G9', 'x'.repeat(5000)]) {
    test(`${JSON.stringify(typed.slice(0, 20))} is not an activation code`, () =>
      expect(hashOfInput(typed)).toBeNull())
  }
})
