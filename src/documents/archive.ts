import { crc32, createInflateRaw } from 'node:zlib'
import { DOCUMENT_ENTRIES_MAX, DOCUMENT_UNPACKED_BYTES_MAX } from '../core/limits/machine.ts'
import { packedBytes, type ZipEntry, zipEntries } from '../core/zip.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'

/** The files in an archive by name; the names are never used as paths on a disk. */
export interface Archive {
  /** Names are compared without case, as office programs do. */
  has(name: string): boolean
  /** A file in pieces. Throws `ParseFailure` beyond what one document may unpack to. */
  read(name: string): AsyncGenerator<Uint8Array>
  /** A file in one piece. */
  readAll(name: string): Promise<Uint8Array>
}

/** Bytes that one step of unpacking returns. */
const PIECE_BYTES = 64 * 1024
const [STORED, DEFLATED] = [0, 8]

/** Throws when the archive has no table of contents; throws `ParseFailure` for too many entries. */
export function openArchive(bytes: Uint8Array): Archive {
  const list = zipEntries(bytes, DOCUMENT_ENTRIES_MAX + 1)
  if (list === null) throw new ParseFailure('unreadable')
  if (list.length > DOCUMENT_ENTRIES_MAX) throw new ParseFailure('too_long')
  const entries = new Map(list.map((entry) => [keyOf(entry.name), entry]))
  let left = DOCUMENT_UNPACKED_BYTES_MAX

  async function* read(name: string): AsyncGenerator<Uint8Array> {
    const entry = entries.get(keyOf(name))
    const packed = entry && packedBytes(bytes, entry)
    if (!entry || !packed) throw new ParseFailure('unreadable')
    if (entry.encrypted) throw new ParseFailure('encrypted')
    let sum = 0
    for await (const piece of unpack(packed, entry)) {
      left -= piece.length
      if (left < 0) throw new ParseFailure('too_long')
      sum = crc32(piece, sum)
      yield piece
    }
    if (sum !== entry.crc32) throw new ParseFailure('unreadable')
  }

  return {
    has: (name) => entries.has(keyOf(name)),
    read,
    async readAll(name) {
      return Buffer.concat(await Array.fromAsync(read(name)))
    },
  }
}

/** The canonical form of a name: without case, and with `/` where a program wrote `\`. */
const keyOf = (name: string) => name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()

async function* unpack(packed: Uint8Array, { method }: ZipEntry): AsyncGenerator<Uint8Array> {
  if (method === STORED) {
    for (let at = 0; at < packed.length; at += PIECE_BYTES) {
      yield packed.subarray(at, at + PIECE_BYTES)
    }
  } else if (method === DEFLATED) {
    const inflate = createInflateRaw({ chunkSize: PIECE_BYTES })
    inflate.end(packed)
    yield* inflate
  } else throw new ParseFailure('unreadable')
}

/** Resolves a relative address in the part `from` of an archive. */
export function resolvePath(from: string, target: string): string {
  const folder = target.startsWith('/') ? '' : from.slice(0, from.lastIndexOf('/') + 1)
  const parts: string[] = []
  for (const part of (folder + target).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
