import type { Cipheriv, Decipheriv, ScryptOptions } from 'node:crypto'
import { nodeCrypto, randomBytes } from '../../core/crypto.ts'

/**
 * The encrypted form of a backup. A header, then chunks of 64 KiB, each with AES-256-GCM:
 *
 *     "MOONBASE" | version 1 | log2 N | r | p | salt (16 bytes)
 *     chunk (65,536 bytes, the last one 0 to 65,536) | tag (16 bytes) …
 *
 * The key is scrypt(passphrase, salt, N, r, p) (RFC 7914), so no two files have the same key and
 * the nonces may count: 11 bytes the number of the chunk, big-endian, 1 byte whether it is the last
 * one (the STREAM construction: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-
 * Encryption and its Nonce-Reuse Misuse-Resistance", 2015; as in age). The header is authenticated
 * with each chunk. A file that is cut, reordered or changed anywhere is not read.
 */
const MAGIC = Buffer.from('MOONBASE')
const VERSION = 1
const SALT_BYTES = 16
const HEADER_BYTES = MAGIC.length + 4 + SALT_BYTES
const CHUNK_BYTES = 64 * 1024
const TAG_BYTES = 16
const KEY_BYTES = 32

/** What a guess of the passphrase costs. */
export interface ScryptCost {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** 128 MiB and half a second a guess (OWASP Password Storage Cheat Sheet: N 2^17, r 8, p 1). */
const COST: ScryptCost = { log2N: 17, r: 8, p: 1 }
/** What a header may ask for at most: 1 GiB. */
const COST_MAX: ScryptCost = { log2N: 20, r: 8, p: 4 }

/** Why an archive cannot be read. */
export type ArchiveFault = 'foreign' | 'newer' | 'passphrase' | 'damaged'

export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  constructor(readonly fault: ArchiveFault) {
    super(`the archive cannot be read: ${fault}`)
  }
}

/** Whether a file that begins so is an encrypted backup. */
export const isArchive = (start: Uint8Array): boolean =>
  MAGIC.equals(Buffer.from(start.subarray(0, MAGIC.length)))

/** Encrypts. The output is 0.03 % longer than the input. */
export async function* encryptArchive(
  plain: AsyncIterable<Uint8Array>,
  passphrase: string,
  { log2N, r, p } = COST,
): AsyncGenerator<Uint8Array> {
  const costs = Buffer.from([VERSION, log2N, r, p])
  const header = Buffer.concat([MAGIC, costs, randomBytes(SALT_BYTES)])
  const key = await keyOf(header, passphrase)
  yield header
  let index = 0
  for await (const { bytes, isLast } of chunked(plain, CHUNK_BYTES)) {
    const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key, nonce(index++, isLast))
    yield seal(cipher.setAAD(header), bytes)
  }
}

const seal = (cipher: Cipheriv & { getAuthTag(): Buffer }, bytes: Uint8Array): Buffer =>
  Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])

/** Decrypts; gives no byte that was not checked. Throws `ArchiveError`. */
export async function* decryptArchive(
  sealed: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { head, rest } = await split(sealed, HEADER_BYTES)
  if (!isArchive(head) || head.length < HEADER_BYTES) throw new ArchiveError('foreign')
  if (head[MAGIC.length] !== VERSION) throw new ArchiveError('newer')
  const key = await keyOf(head, passphrase)
  let index = 0
  for await (const { bytes, isLast } of chunked(rest, CHUNK_BYTES + TAG_BYTES)) {
    const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', key, nonce(index, isLast))
    const plain = unseal(decipher.setAAD(head), bytes)
    // A wrong passphrase is wrong for the first chunk; what fails later is damage.
    if (plain === null) throw new ArchiveError(index === 0 ? 'passphrase' : 'damaged')
    index++
    yield plain
  }
}

function unseal(decipher: Decipheriv & { setAuthTag(tag: Buffer): unknown }, bytes: Uint8Array) {
  const end = bytes.length - TAG_BYTES
  if (end < 0) return null
  try {
    decipher.setAuthTag(Buffer.from(bytes.subarray(end)))
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()])
  } catch {
    return null
  }
}

function nonce(index: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUIntBE(index, 5, 6)
  bytes[11] = isLast ? 1 : 0
  return bytes
}

function keyOf(header: Uint8Array, passphrase: string): Promise<Buffer> {
  const [log2N = 0, r = 0, p = 0] = header.subarray(MAGIC.length + 1)
  const sane = log2N > 0 && r > 0 && p > 0
  if (!sane || log2N > COST_MAX.log2N || r > COST_MAX.r || p > COST_MAX.p) {
    throw new ArchiveError('damaged')
  }
  const salt = header.subarray(HEADER_BYTES - SALT_BYTES)
  const options: ScryptOptions = { N: 2 ** log2N, r, p, maxmem: 2 ** log2N * r * 128 * 2 }
  return new Promise((resolve, reject) => {
    nodeCrypto().scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

interface Chunk {
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

/** Cuts into pieces of `size` bytes; the last one, which may be empty, has what is left. */
async function* chunked(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Chunk> {
  const pieces: Uint8Array[] = []
  let held = 0
  for await (const piece of source) {
    pieces.push(piece)
    held += piece.length
    if (held <= size) continue
    const all = Buffer.concat(pieces)
    let from = 0
    // One byte is kept back, because only what follows tells that a chunk is not the last one.
    for (; all.length - from > size; from += size) {
      yield { bytes: all.subarray(from, from + size), isLast: false }
    }
    pieces.splice(0, pieces.length, all.subarray(from))
    held = all.length - from
  }
  yield { bytes: Buffer.concat(pieces), isLast: true }
}

/** The first `size` bytes, or fewer where there are fewer, and all that follows. */
async function split(source: AsyncIterable<Uint8Array>, size: number) {
  const iterator = source[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < size) {
    const { value, done } = await iterator.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    if (head.length > size) yield head.subarray(size)
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head: head.subarray(0, size), rest: rest() }
}
