import { lazy } from './lazy.ts'

/** Loaded on first use: it is the slowest of Node's modules to load and no start needs it. */
export const nodeCrypto = lazy(() => process.getBuiltinModule('node:crypto'))

/** Lower-case hex sha256, which is stored in place of keys and codes. */
export function sha256Hex(text: string | Uint8Array): string {
  return Bun.CryptoHasher.hash('sha256', text, 'hex')
}

/** base64url sha256 without padding: the PKCE challenge of a verifier (RFC 7636, S256). */
export function sha256Base64Url(text: string): string {
  return Bun.CryptoHasher.hash('sha256', text, 'base64url')
}

/** Bytes of cryptographic randomness. */
export function randomBytes(count: number): Buffer {
  return crypto.getRandomValues(Buffer.alloc(count))
}

/** `bytes` of cryptographic randomness as lower-case hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** A decimal code of `digits` digits, every one equally likely. */
export function randomDigits(digits: number): string {
  return String(nodeCrypto().randomInt(10 ** digits)).padStart(digits, '0')
}

/** Compares in a time that depends only on the lengths. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && nodeCrypto().timingSafeEqual(left, right)
}

/** `bytes` of cryptographic randomness as base64url without padding: fit for URLs and cookies. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/** Lower-case hex HMAC-SHA256, which is stored in place of secrets short enough to guess. */
export function hmacHex(key: Uint8Array, text: string): string {
  return new Bun.CryptoHasher('sha256', key).update(text).digest('hex')
}

/** base64url HMAC-SHA256 without padding: the signature of a JWT with HS256 (RFC 7515). */
export function hmacBase64Url(key: Uint8Array, text: string): string {
  return new Bun.CryptoHasher('sha256', key).update(text).digest('base64url')
}

/**
 * Derives a 32-byte key for one purpose from a long-lived secret (HKDF-SHA256, RFC 5869), so that a
 * signature for one purpose is not valid for another.
 */
export function deriveKey(secret: Uint8Array, purpose: string): Uint8Array<ArrayBuffer> {
  // The key is as long as one hash, so each of the two steps has a single round.
  const extracted = hmac(new Uint8Array(32), secret)
  return hmac(extracted, Buffer.from(`moonbase ${purpose}\x01`))
}

const hmac = (key: Uint8Array, message: Uint8Array) =>
  new Uint8Array(new Bun.CryptoHasher('sha256', key).update(message).digest())

/** A UUIDv7 (RFC 9562): unique, and sorts as text by creation time. */
export function newId(): string {
  return Bun.randomUUIDv7()
}

/** A UUIDv7 with `ms` since the epoch as its creation time. */
export function newIdAt(ms: number): string {
  return Bun.randomUUIDv7('hex', ms)
}

/** The first byte of a sealed text names its format. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES

/**
 * Encrypts secrets at rest with AES-256-GCM (NIST SP 800-38D) and a random nonce, laid out as
 * version, nonce, ciphertext, tag. `owner` is authenticated with the text, so that a sealed text
 * copied to another owner's row does not open there. `key` has 32 bytes.
 */
export function createSeal(key: Uint8Array) {
  return {
    seal(text: string, owner: string): Uint8Array {
      const nonce = randomBytes(NONCE_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key, nonce, options)
      cipher.setAAD(aad(owner))
      return Buffer.concat([
        Buffer.of(VERSION),
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },

    /** Null for a text of another key or another owner, or one that was changed. */
    open(sealed: Uint8Array, owner: string): string | null {
      if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES + TAG_BYTES) return null
      const options = { authTagLength: TAG_BYTES }
      const nonce = sealed.subarray(1, HEAD_BYTES)
      const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', key, nonce, options)
      decipher.setAAD(aad(owner))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      try {
        const start = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES))
        return Buffer.concat([start, decipher.final()]).toString('utf8')
      } catch {
        return null
      }
    },
  }
}

export type Seal = ReturnType<typeof createSeal>

const aad = (owner: string) => Buffer.concat([Buffer.of(VERSION), Buffer.from(owner)])
