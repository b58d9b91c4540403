import { constants, inflateSync } from 'node:zlib'
import { getResolvedPDFJS } from 'unpdf'
import {
  DOCUMENT_CHARS_MAX,
  DOCUMENT_PAGES_MAX,
  DOCUMENT_UNPACKED_BYTES_MAX,
} from '../core/limits/machine.ts'
import { SCAN_LETTERS_MIN } from '../core/limits/scans.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import type { Reading } from './blocks.ts'
import { type Line, pdfPieces } from './pdf-lines.ts'
import type { OpenPdfium } from './pdfium.ts'
import { coveredPages } from './scanned-pages.ts'

/** Reads a character map of Adobe by its name, such as `Adobe-GB1-UCS2.bcmap`. */
export type ReadCharacterMap = (name: string) => Promise<Uint8Array>

/**
 * The text of a PDF, and with `openPdfium` the pages that are pictures. Chinese files often refer
 * to a character map without containing it. Throws `ParseFailure`, or the library's own errors for
 * a damaged file.
 */
export async function readPdf(
  bytes: Uint8Array,
  readMap: ReadCharacterMap,
  openPdfium: OpenPdfium | null,
): Promise<Reading> {
  checkStreams(bytes)
  const { getDocument } = await getResolvedPDFJS()
  const task = getDocument({
    // A copy, because pdf.js takes the whole buffer over and accepts no Node Buffer.
    data: new Uint8Array(bytes),
    verbosity: 0,
    useSystemFonts: false,
    useWasm: false,
    disableFontFace: true,
    BinaryDataFactory: class {
      async fetch({ kind, filename }: { readonly kind: string; readonly filename: string }) {
        if (kind !== 'cMapUrl') throw new Error('nothing is drawn')
        return await readMap(filename)
      }
    },
  })
  const document = await task.promise.catch((error: Error) => {
    throw error.name === 'PasswordException' ? new ParseFailure('encrypted') : error
  })
  if (document.numPages > DOCUMENT_PAGES_MAX) throw new ParseFailure('too_long')
  const { info } = await document.getMetadata()
  const pages: Line[][] = []
  let chars = 0
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const lines = linesOf(items as readonly Item[])
    for (const { text } of lines) chars += text.length
    if (chars > DOCUMENT_CHARS_MAX) throw new ParseFailure('too_long')
    pages.push(lines)
    page.cleanup()
  }
  await task.destroy()
  const title = String((info as { readonly Title?: unknown }).Title ?? '').trim()
  const bare = pages.flatMap((lines, i) => (lettersIn(lines) < SCAN_LETTERS_MIN ? [i + 1] : []))
  const scans = openPdfium && bare.length > 0 ? await coveredPages(bytes, bare, openPdfium) : []
  return { title: title || null, pages: pages.length, pieces: pdfPieces(pages), scans }
}

const lettersIn = (lines: readonly Line[]): number =>
  lines.reduce((sum, { text }) => sum + (text.match(/\p{L}/gu)?.length ?? 0), 0)

/** A run of characters, as pdf.js gives it. */
interface Item {
  readonly str: string
  /** Six numbers; the last two are where it begins. */
  readonly transform: readonly number[]
  readonly width: number
  readonly height: number
  /** Whether it is the last of its line. */
  readonly hasEOL: boolean
}

function linesOf(items: readonly Item[]): Line[] {
  const lines: Line[] = []
  let open: Item[] = []
  for (const item of items) {
    open.push(item)
    if (item.hasEOL) {
      lines.push(...lineOf(open))
      open = []
    }
  }
  lines.push(...lineOf(open))
  return mendSpacing(lines)
}

function lineOf(items: readonly Item[]): Line[] {
  const text = readable(items.map(({ str }) => str).join(''))
  const visible = items.filter(({ str }) => str.trim() !== '')
  const [first] = visible
  const last = visible.at(-1)
  if (!first || !last) return []
  const longest = visible.reduce((best, next) => (next.str.length > best.str.length ? next : best))
  const [, , , , left = 0, baseline = 0] = first.transform
  const right = (last.transform[4] ?? 0) + last.width
  return [{ text, left, right, baseline, size: longest.height }]
}

/** Without the dots of a table of contents, and with ordinary characters for radicals. */
const readable = (text: string) =>
  text
    .replace(/(?:[.·…]\s*){5,}/g, ' … ')
    .replace(/[\u2e80-\u2fdf\uf900-\ufaff]/g, (char) => char.normalize('NFKC'))
    .replace(/\s+/g, ' ')
    .trim()

const SPACED = /\p{Script=Han} (?=\p{Script=Han})/gu
const TIGHT = /\p{Script=Han}(?=\p{Script=Han})/gu

/** Removes the space after every character that some Chinese files have. */
function mendSpacing(lines: readonly Line[]): Line[] {
  const text = lines.map((line) => line.text).join('\n')
  const spaced = text.match(SPACED)?.length ?? 0
  if (spaced <= (text.match(TIGHT)?.length ?? 0)) return [...lines]
  return lines.map((line) => ({
    ...line,
    text: line.text.replace(/(?<=(?:^|\s)\S) (?=\S(?:\s|$))/gu, ''),
  }))
}

/** How far before a stream its dictionary is searched. */
const DICTIONARY_BYTES_MAX = 2_048
/** Streams that are not unpacked for the text of a page: images and glyph outlines. */
const DRAWN = /\/Subtype\s*\/(?:Image|Type1C|CIDFontType0C|OpenType)\b|\/Length1\b/

/**
 * Throws `ParseFailure` when the streams of a PDF unpack to more than a document may. pdf.js
 * unpacks a stream whole, so a small file could take all memory before it gives any text. Encrypted
 * streams and other filters are not checked here; the limits of the process apply to them.
 */
function checkStreams(bytes: Uint8Array): void {
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

/** The position after the line feed that follows the word `stream`. */
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
