import type { DocumentKind, DocumentPart } from '../channels/ports/parser.ts'
import { textEncoding } from '../core/text-encoding.ts'
import { decodeText } from '../tools/charset.ts'
import { type Piece, toBlocks } from './blocks.ts'
import type { ReadCharacterMap } from './pdf.ts'

/** What a reader finds in a file. */
export interface Reading {
  readonly title: string | null
  readonly pages: number | null
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>
}

export interface DocumentFile {
  readonly kind: DocumentKind
  readonly mediaType: string
  readonly contentType: string | null
  readonly readCharacterMap: ReadCharacterMap
}

/** The parts of a file. Throws `ParseFailure`, or another error when it is damaged. */
export async function* readDocument(
  bytes: Uint8Array,
  file: DocumentFile,
): AsyncGenerator<DocumentPart> {
  const { title, pages, pieces } = await READERS[file.kind](bytes, file)
  yield { type: 'info', mediaType: file.mediaType, title, pages }
  yield* toBlocks(pieces)
}

type Read = (bytes: Uint8Array, file: DocumentFile) => Promise<Reading>

const untitled = (pieces: Reading['pieces']): Reading => ({ title: null, pages: null, pieces })

const READERS: Readonly<Record<DocumentKind, Read>> = {
  async pdf(bytes, { readCharacterMap }) {
    const { readPdf } = await import('./pdf.ts')
    return await readPdf(bytes, readCharacterMap)
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
    const { decode } = await import('./text.ts')
    const { readCsv } = await import('./tables.ts')
    return untitled(readCsv(decode(bytes)))
  },
  async markdown(bytes) {
    const { decode, readMarkdown } = await import('./text.ts')
    return untitled(readMarkdown(decode(bytes)))
  },
  async text(bytes) {
    const { decode, readText } = await import('./text.ts')
    return untitled(readText(decode(bytes)))
  },
}
