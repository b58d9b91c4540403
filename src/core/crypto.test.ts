import { expect, test } from 'bun:test'
import { hkdfSync } from 'node:crypto'
import {
  createSeal,
  deriveKey,
  hmacHex,
  randomBytes,
  randomDigits,
  randomHex,
  sameSecret,
  sha256Hex,
} from './crypto.ts'

test('sameSecret compares texts of any length and alphabet', () => {
  expect(sameSecret('', '')).toBe(true)
  expect(sameSecret('秘密', '秘密')).toBe(true)
  for (const [a, b] of [
    ['a', 'b'],
    ['a', 'aa'],
    ['', 'a'],
    ['é', 'e\u0301'],
    ['a\u0000', 'a'],
  ] as const) {
    expect(sameSecret(a, b)).toBe(false)
  }
})

test('digests match the vectors of their standards', () => {
  // FIPS 180-2, appendix B.1; RFC 4231, test case 2.
  expect(sha256Hex('abc')).toStartWith('ba7816bf8f01cfea414140de5dae2223')
  expect(hmacHex(Buffer.from('Jefe'), 'what do ya want for nothing?')).toStartWith(
    '5bdcc146bf60754e6a042426089575c7',
  )
})

test('derived keys match HKDF, so that old signatures stay valid', () => {
  for (const secret of [Buffer.alloc(32, 1), Buffer.from('a'.repeat(100))]) {
    const expected = hkdfSync('sha256', secret, '', 'moonbase session', 32)
    expect(deriveKey(secret, 'session')).toEqual(new Uint8Array(expected))
  }
})

test('keys for two purposes have nothing in common', () => {
  const secret = Buffer.alloc(32, 1)
  expect(deriveKey(secret, 'a')).toEqual(deriveKey(secret, 'a'))
  expect(deriveKey(secret, 'a')).not.toEqual(deriveKey(secret, 'b'))
  expect(deriveKey(secret, 'a').length).toBe(32)
})

test('random values have their length, zeros in front included', () => {
  for (let n = 0; n < 500; n++) expect(randomDigits(6)).toMatch(/^\d{6}$/)
  expect(randomHex(32)).toMatch(/^[0-9a-f]{64}$/)
})

const seal = createSeal(randomBytes(32))

for (const text of ['', 'sk-secret', '密钥🔑', 'x'.repeat(10_000)]) {
  test(`${text.slice(0, 10)} (${text.length}) decrypts to itself`, () => {
    expect(seal.open(seal.seal(text, 'tenant'), 'tenant')).toBe(text)
  })
}

test('a text is encrypted differently each time and is not in its ciphertext', () => {
  const [one, two] = [seal.seal('sk-secret', 't'), seal.seal('sk-secret', 't')]
  expect(one).not.toEqual(two)
  expect(Buffer.from(one).includes('secret')).toBeFalse()
})

test('another key or owner and any changed, lost or added byte do not decrypt', () => {
  const sealed = seal.seal('sk-secret', 'tenant')
  expect(createSeal(randomBytes(32)).open(sealed, 'tenant')).toBeNull()
  expect(seal.open(sealed, 'tenant2')).toBeNull()
  for (let at = 0; at < sealed.length; at++) {
    const changed = Uint8Array.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(seal.open(changed, 'tenant')).toBeNull()
    expect(seal.open(sealed.subarray(0, at), 'tenant')).toBeNull()
  }
  expect(seal.open(Buffer.concat([sealed, Buffer.of(0)]), 'tenant')).toBeNull()
})
