import { createHash } from 'node:crypto'

/** The hashes fit in a number of JavaScript: two words of one tenant are never taken for one. */
const BITS = (1n << 53n) - 1n

/**
 * Hashes of words that differ between tenants, for an index that shall hold no text. They are
 * stored, so xxHash64 and its seed stay as they are.
 */
export function wordHashes(tenantId: string, words: Iterable<string>): number[] {
  const seed = createHash('sha256').update(tenantId).digest().readBigUInt64LE()
  return Array.from(words, (word) => Number(Bun.hash.xxHash64(word, seed) & BITS))
}
