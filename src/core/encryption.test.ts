import { expect, test } from 'bun:test'
import { randomBytes } from './crypto.ts'
import { createSeal } from './encryption.ts'

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
