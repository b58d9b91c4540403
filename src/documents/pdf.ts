import { getResolvedPDFJS } from 'unpdf'
import { ParseFailure } from '../channels/ports/parser.ts'
import { DOCUMENT_CHARS_MAX, DOCUMENT_PAGES_MAX } from '../core/limits/machine.ts'
import { type Line, pdfPieces } from './pdf-lines.ts'
import { checkStreams } from './pdf-streams.ts'
import type { Reading } from './read.ts'

/** Gives a character map of Adobe's by its name, such as `Adobe-GB1-UCS2.bcmap`. */
export type ReadCharacterMap = (name: string) => Promise<Uint8Array>

/**
 * The text of a PDF. Chinese files often name a character map instead of bringing one. Throws
 * `ParseFailure`, or the library's own errors for a damaged file.
 */
export async function readPdf(bytes: Uint8Array, readMap: ReadCharacterMap): Promise<Reading> {
  checkStreams(bytes)
  const { getDocument } = await getResolvedPDFJS()
  const task = getDocument({
    // A copy, because it is handed over whole and may not be a Buffer.
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
  return { title: title || null, pages: pages.length, pieces: pdfPieces(pages) }
}

/** A run of characters, as pdf.js gives it. */
interface Item {
  readonly str: string
  /** Six numbers; the last two are where it begins. */
  readonly transform: readonly number[]
  readonly width: number
  readonly height: number
  /** It is the last of its line. */
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

/** Some Chinese files have a space behind every character of a page. */
function mendSpacing(lines: readonly Line[]): Line[] {
  const text = lines.map((line) => line.text).join('\n')
  const spaced = text.match(SPACED)?.length ?? 0
  if (spaced <= (text.match(TIGHT)?.length ?? 0)) return [...lines]
  return lines.map((line) => ({
    ...line,
    text: line.text.replace(/(?<=(?:^|\s)\S) (?=\S(?:\s|$))/gu, ''),
  }))
}
