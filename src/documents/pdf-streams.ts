import { constants, inflateSync } from 'node:zlib'
import { ParseFailure } from '../channels/ports/parser.ts'
import { DOCUMENT_UNPACKED_BYTES_MAX } from '../core/limits/machine.ts'

/** Where the dictionary before a stream is looked for. */
const DICTIONARY_BYTES_MAX = 2_048
/** Streams that are not unpacked for the text of a page: pictures, and the shapes of letters. */
const DRAWN = /\/Subtype\s*\/(?:Image|Type1C|CIDFontType0C|OpenType)\b|\/Length1\b/

/**
 * Throws `ParseFailure` when the streams of a PDF unpack to more than one document may. pdf.js
 * unpacks a stream whole, so a small file may take all memory before it gives any text. What this
 * cannot see, such as encrypted streams and other filters, ends by the limits of the process.
 */
export function checkStreams(bytes: Uint8Array): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let left = DOCUMENT_UNPACKED_BYTES_MAX
  for (let end = 0; ; ) {
    const word = file.indexOf('stream', end)
    if (word < 0) return
    const start = contentStart(file, word)
    const close = file.indexOf('endstream', start)
    end = close < 0 ? file.length : close + 'endstream'.length
    const dictionary = file.toString('latin1', Math.max(0, word - DICTIONARY_BYTES_MAX), word)
    const own = dictionary.slice(dictionary.lastIndexOf('obj') + 1)
    if (isDeflated(file, start) && !DRAWN.test(own))
      left -= unpackedSize(file.subarray(start, end), left)
  }
}

/** Behind the line feed after the word `stream`. */
const contentStart = (file: Buffer, word: number) =>
  word + 'stream'.length + (file[word + 'stream'.length] === 0x0d ? 2 : 1)

/** The two bytes that begin what zlib packs (RFC 1950). */
const isDeflated = (file: Buffer, at: number) =>
  ((file[at] ?? 0) & 0x0f) === 8 && file.length > at + 1 && file.readUInt16BE(at) % 31 === 0

function unpackedSize(packed: Uint8Array, most: number): number {
  try {
    const finishFlush = constants.Z_SYNC_FLUSH
    return inflateSync(packed, { maxOutputLength: most, finishFlush }).length
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ParseFailure('too_long')
    }
    return 0
  }
}
