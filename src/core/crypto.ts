import { timingSafeEqual } from 'node:crypto'

/** Lower-case hex sha256; what is stored of keys and codes in place of themselves. */
export function sha256Hex(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

/** `bytes` of cryptographic randomness as lower-case hex. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(Buffer.alloc(bytes)).toString('hex')
}

/** Equality in a time that depends only on the lengths. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
