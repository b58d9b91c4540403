import { nodeCrypto, randomBytes } from './crypto.ts'

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
