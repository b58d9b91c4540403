import { type Statement, sql } from '../db.ts'
import { docOf, KEYS_PER_DOC, type VectorEntry } from '../indexes.ts'

/**
 * Codes of vectors, one bit a dimension, to find near vectors without reading them all. A fixed
 * rotation first spreads the information of a vector over all bits; without it the codes of a
 * question and its answer differ nearly everywhere. As in RaBitQ (Gao and Long, 2024), the bits of
 * the stored vector are compared with the numbers of the query.
 */

/** Shorter vectors get this many bits too, because more bits err less. */
const BITS_MIN = 1_024
/** Codes with the fewest different bits, which are then ranked by the numbers of the query. */
const NEAR = 2_048

const bitsOf = (dimensions: number) => Math.max(BITS_MIN, 2 ** Math.ceil(Math.log2(dimensions)))

export interface DocCodes {
  readonly doc: number
  /** The codes of its chunks in order; zeros for a chunk without a vector. */
  readonly codes: Uint8Array
}

/** The codes of documents from their vectors, all of one length. */
export function codesOfDocs(entries: readonly VectorEntry[]): DocCodes[] {
  const docs = Map.groupBy(entries, ({ key }) => docOf(key))
  return [...docs].map(([doc, own]) => {
    const bytes = bitsOf(own[0]?.vector.length ?? 0) / 8
    const chunks = 1 + Math.max(...own.map(({ key }) => key % KEYS_PER_DOC))
    const codes = new Uint8Array(chunks * bytes)
    for (const { key, vector } of own) codes.set(codeOf(vector), (key % KEYS_PER_DOC) * bytes)
    return { doc, codes }
  })
}

/** The signs of the rotated vector. They are stored: another rotation needs a migration. */
function codeOf(vector: Float32Array): Uint8Array {
  const turned = turn(vector)
  const code = new Uint8Array(turned.length / 8)
  for (let i = 0; i < turned.length; i++) {
    if ((turned[i] as number) > 0) code[i >> 3] = (code[i >> 3] as number) | (1 << (i & 7))
  }
  return code
}

/** A Hadamard transform of the vector with half of its signs changed. */
function turn(vector: Float32Array): Float32Array {
  const out = new Float32Array(bitsOf(vector.length))
  for (let i = 0; i < vector.length; i++) out[i] = (vector[i] as number) * signAt(i)
  for (let half = 1; half < out.length; half *= 2) {
    for (let from = 0; from < out.length; from += 2 * half) {
      for (let i = from; i < from + half; i++) {
        const a = out[i] as number
        const b = out[i + half] as number
        out[i] = a + b
        out[i + half] = a - b
      }
    }
  }
  return out
}

/** 1 or -1, fixed for each place: one bit of a multiplicative hash (Knuth's multiplier). */
const signAt = (i: number) => ((Math.imul(i + 1, 0x9e3779b1) >>> 16) & 1 ? 1 : -1)

export interface CodeScan {
  /** Adds the codes of consecutive keys, the first of them `firstKey`. */
  add(codes: Uint8Array, firstKey: number): void
  /** The keys whose vectors seem nearest, at most `limit`. */
  best(limit: number): number[]
}

/**
 * Compares codes with a query: all by the number of different bits, 30 to 40 ns each, and the near
 * ones by the query's numbers, too.
 */
export function createCodeScan(query: Float32Array): CodeScan {
  const wanted = new Int32Array(codeOf(query).buffer)
  const estimate = estimateOf(turn(query))
  const counts = new Uint32Array(wanted.length * 32 + 1)
  let farthest = wanted.length * 32
  let near = 0
  let found: { key: number; distance: number; estimate: number }[] = []

  /** Lowers the greatest distance that is kept while enough codes are below it. */
  function keep(distance: number): void {
    counts[distance] = (counts[distance] as number) + 1
    near++
    while (near - (counts[farthest] as number) >= NEAR) near -= counts[farthest--] as number
  }

  return {
    add(codes, firstKey) {
      const words = wordsOf(codes)
      for (let at = 0; at < words.length; at += wanted.length) {
        const distance = differentBits(words, at, wanted)
        if (distance > farthest) continue
        keep(distance)
        const key = firstKey + at / wanted.length
        found.push({ key, distance, estimate: estimate(codes, at * 4) })
      }
      if (found.length > 4 * NEAR) found = found.filter(({ distance }) => distance <= farthest)
    },
    best: (limit) =>
      found
        .filter(({ distance }) => distance <= farthest)
        .sort((a, b) => b.estimate - a.estimate)
        .slice(0, limit)
        .map(({ key }) => key),
  }
}

const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  byteOffset % 4 === 0
    ? new Int32Array(buffer, byteOffset, byteLength / 4)
    : new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength))

/** Counts differing bits of many words in parallel; a byte can hold the counts of 16 words. */
function differentBits(words: Int32Array, from: number, wanted: Int32Array): number {
  let bits = 0
  for (let block = 0; block < wanted.length; block += 16) {
    let bytes = 0
    for (let i = block; i < block + 16; i += 2) {
      const a = pairs((words[from + i] as number) ^ (wanted[i] as number))
      const b = pairs((words[from + i + 1] as number) ^ (wanted[i + 1] as number))
      const fours = (fourBits(a) + fourBits(b)) | 0
      bytes = (bytes + (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f)) | 0
    }
    const halves = (bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff)
    bits += (halves & 0xffff) + (halves >>> 16)
  }
  return bits
}

const pairs = (x: number) => (x - ((x >>> 1) & 0x55555555)) | 0
const fourBits = (x: number) => ((x & 0x33333333) + ((x >>> 2) & 0x33333333)) | 0

/** The sum of the query's numbers with the signs of the code, by a table for each byte. */
function estimateOf(query: Float32Array): (codes: Uint8Array, from: number) => number {
  const bytes = query.length / 8
  const sums = new Float32Array(bytes * 256)
  for (let byte = 0; byte < bytes; byte++) {
    const at = byte * 256
    for (let bit = 0; bit < 8; bit++) {
      const own = query[byte * 8 + bit] as number
      sums[at] = (sums[at] as number) - own
    }
    for (let value = 1; value < 256; value++) {
      const lowest = 31 - Math.clz32(value & -value)
      const without = sums[at + (value & (value - 1))] as number
      sums[at + value] = without + 2 * (query[byte * 8 + lowest] as number)
    }
  }
  return (codes, from) => {
    let sum = 0
    for (let byte = 0; byte < bytes; byte++) {
      sum += sums[byte * 256 + (codes[from + byte] as number)] as number
    }
    return sum
  }
}

/** A copy, because a message to a thread carries the whole buffer below a view. */
export const bytesOf = (vector: Float32Array) => new Uint8Array(vector.slice().buffer)

/**
 * The cosines of the keys, highest first; keys without a vector of the query's length are absent.
 */
export function cosinesOf(space: string, query: Float32Array, keys: readonly number[]): Statement {
  return sql`
    SELECT v.key, 1 - vec_distance_cosine(v.vector, ${bytesOf(query)}) AS cosine
    FROM json_each(${JSON.stringify(keys)}) wanted CROSS JOIN kb_vector v ON v.key = wanted.value
    WHERE v.space = ${space} AND length(v.vector) = ${query.byteLength}
    ORDER BY cosine DESC`
}
