import { createHash } from 'node:crypto'

/**
 * 53 bits, which fit in a number of JavaScript. A tenant with a million words has two of one hash
 * with a probability of 1 in 18,000; a search for one of them then finds the other, too.
 */
const BITS = (1n << 53n) - 1n

/**
 * Hashes of words that differ between tenants, for an index that shall hold no text. They are
 * stored, so xxHash64 and its seed stay as they are.
 */
export function wordHashes(tenantId: string, words: Iterable<string>): number[] {
  const seed = createHash('sha256').update(tenantId).digest().readBigUInt64LE()
  return Array.from(words, (word) => Number(Bun.hash.xxHash64(word, seed) & BITS))
}
