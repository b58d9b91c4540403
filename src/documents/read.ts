import { sha256Hex } from '../core/crypto.ts'
import { DOCUMENT_CHARS_MAX } from '../core/limits/machine.ts'
import { decodeText, textEncoding } from '../core/text-encoding.ts'
import { type DocumentKind, type DocumentPart, ParseFailure } from '../upstream/ports/parser.ts'
import { type Piece, type Reading, toBlocks } from './blocks.ts'
import type { ReadCharacterMap } from './pdf.ts'
import type { OpenPdfium } from './pdfium.ts'

export interface DocumentFile {
  readonly kind: DocumentKind
  readonly mediaType: string
  readonly contentType: string | null
  readonly readCharacterMap: ReadCharacterMap
  /** Opens PDFium, when pages that are pictures are to be named; else null. */
  readonly openPdfium: OpenPdfium | null
}

/** The parts of a file. Throws `ParseFailure`, or another error when it is damaged. */
export async function* readDocument(
  bytes: Uint8Array,
  file: DocumentFile,
): AsyncGenerator<DocumentPart> {
  const { title, pages, pieces, scans = [] } = await READERS[file.kind](bytes, file)
  const info = { type: 'info', mediaType: file.mediaType, title, pages } as const
  const isScanned = scans.length > 0
  yield isScanned ? { ...info, scans: { pages: scans, fileHash: sha256Hex(bytes) } } : info
  yield* toBlocks(pieces, isScanned)
}

type Read = (bytes: Uint8Array, file: DocumentFile) => Promise<Reading>

const untitled = (pieces: Reading['pieces']): Reading => ({ title: null, pages: null, pieces })

const READERS: Readonly<Record<DocumentKind, Read>> = {
  async pdf(bytes, { readCharacterMap, openPdfium }) {
    const { readPdf } = await import('./pdf.ts')
    return await readPdf(bytes, readCharacterMap, openPdfium)
  },
  async docx(bytes) {
    const { readDocx } = await import('./docx.ts')
    return await readDocx(bytes)
  },
  async pptx(bytes) {
    const { readPptx } = await import('./pptx.ts')
    return await readPptx(bytes)
  },
  async xlsx(bytes) {
    const { readXlsx } = await import('./xlsx.ts')
    return await readXlsx(bytes)
  },
  async epub(bytes) {
    const { readEpub } = await import('./epub.ts')
    return await readEpub(bytes)
  },
  async html(bytes, { contentType }) {
    const { readHtml } = await import('./html.ts')
    const html = decodeText(bytes, contentType ?? '', textEncoding(bytes) ?? undefined)
    return { pages: null, ...readHtml(html) }
  },
  async csv(bytes) {
    const { readCsv } = await import('./tables.ts')
    return untitled(readCsv(decode(bytes)))
  },
  async markdown(bytes) {
    return untitled(readMarkdown(decode(bytes)))
  },
  async picture(_bytes, { openPdfium }) {
    if (!openPdfium) throw new ParseFailure('unsupported')
    return { title: null, pages: 1, pieces: [], scans: [1] }
  },
  async text(bytes) {
    return untitled(readText(decode(bytes)))
  },
}

/** A text file. Undecodable bytes become U+FFFD. */
function decode(bytes: Uint8Array): string {
  const label = textEncoding(bytes) ?? 'utf-8'
  const text = new TextDecoder(label as Bun.Encoding).decode(bytes)
  if (text.length > 2 * DOCUMENT_CHARS_MAX) throw new ParseFailure('too_long')
  return text
}

/** A heading such as `第三章 维修`; a longer line is a clause. */
const CHAPTER = /^\s*(第[\d一二三四五六七八九十百千零〇两]+[章节条篇部](?:\s.{0,40})?)$/

/** The paragraphs of plain text, divided by blank lines and chapter headings. */
const readText = (text: string): Generator<Piece> =>
  paragraphs(text, (line) => CHAPTER.exec(line)?.[1] ?? null)

/** The paragraphs of Markdown, unchanged. */
function readMarkdown(text: string): Generator<Piece> {
  let fence: string | null = null
  return paragraphs(text, (line) => {
    const [, mark = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (fence === null && mark !== '') fence = mark
    else if (fence !== null && mark.startsWith(fence)) fence = null
    return fence === null ? (/^ {0,3}#{1,6}\s+(.+?)[\s#]*$/.exec(line)?.[1] ?? null) : null
  })
}

const HEADING_LINE_MAX = 500

/** Divides text into paragraphs; `headingIn` returns the text of a heading line, else null. */
function* paragraphs(text: string, headingIn: (line: string) => string | null): Generator<Piece> {
  let heading: string | null = null
  let lines: string[] = []
  for (const line of text.split(/\r\n?|\n/)) {
    const found = line.length > HEADING_LINE_MAX ? null : headingIn(line)
    const ends = found !== null || line.trim() === ''
    if (ends && lines.length > 0) {
      yield { text: lines.join('\n'), heading }
      lines = []
    }
    heading = found ?? heading
    if (line.trim() !== '') lines.push(line)
  }
  if (lines.length > 0) yield { text: lines.join('\n'), heading }
}
