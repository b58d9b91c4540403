import { type DocumentKind, type DocumentPart, ParseFailure } from '../channels/ports/parser.ts'
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
  const read = READERS[file.kind]
  if (!read) throw new ParseFailure('unsupported')
  const { title, pages, pieces } = await read(bytes, file)
  yield { type: 'info', mediaType: file.mediaType, title, pages }
  yield* toBlocks(pieces)
}

type Read = (bytes: Uint8Array, file: DocumentFile) => Promise<Reading>

const untitled = (pieces: Reading['pieces']): Reading => ({ title: null, pages: null, pieces })

const READERS: Readonly<Partial<Record<DocumentKind, Read>>> = {
  async pdf(bytes, { readCharacterMap }) {
    const { readPdf } = await import('./pdf.ts')
    return await readPdf(bytes, readCharacterMap)
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
