import type { Clock } from '../../../core/clock.ts'
import { DOCUMENT_CHARS_MAX } from '../../../core/limits/machine.ts'
import { timeSlice } from '../../../core/time-slice.ts'
import {
  type DocumentBlock,
  type DocumentInfo,
  type FileBytes,
  ParseFailure,
  type Parser,
} from '../../../upstream/ports/parser.ts'
import type { FileScans, Scans, ScanTexts } from '../scans/service.ts'
import { type Block, cutParts, fitting, type Part } from './cut.ts'
import { failure, failureOfParser } from './failure.ts'

/** Where uploads and pages wait to be read: one private file a source (data-folder/spool.ts). */
export interface Spool {
  /** The ids of the files that an earlier server left behind. */
  readonly found: readonly string[]
  /** Resolves with the size once the file is on disk; leaves nothing behind when it rejects. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** Maps a non-empty file into memory: only the bytes that are read are loaded. */
  map(id: string): Uint8Array
  /** The path of a file, for the process that reads it. */
  file(id: string): FileBytes
  has(id: string): boolean
  remove(id: string): void
}

export interface ReadingOptions {
  readonly parser: Parser
  readonly spool: Spool
  readonly scans: Pick<Scans, 'isOn' | 'known'>
  readonly clock: Pick<Clock, 'steady'>
  /** UTF-8 bytes of the text of a document. */
  readonly docBytesMax: () => number
}

export interface SpooledFile {
  readonly id: string
  readonly tenantId: string
  readonly bytes: number
  readonly fileName: string
  readonly contentType: string
}

export interface ReadText {
  readonly mediaType: string
  /** The title in the file's metadata. */
  readonly title: string | null
  readonly pages: number | null
  /** Pages that a model has read from their pictures, and scanned ones that it will not. */
  readonly scanned: number
  readonly unread: number
  readonly parts: readonly Part[]
  /** SHA-256 of the whole text. */
  readonly hash: string
}

/** A file with pages that a model is to read first. */
export interface UnreadText {
  readonly scans: FileScans
}

interface ReadBlocks {
  readonly info: Pick<DocumentInfo, 'mediaType' | 'title' | 'pages' | 'scans'>
  readonly blocks: readonly DocumentBlock[]
}

const NO_SCANS: ScanTexts = { texts: new Map(), unread: 0 }

/** Reads spooled files in the parse processes. */
export function createReading({ parser, spool, scans, clock, docBytesMax }: ReadingOptions) {
  async function readBlocks(
    file: SpooledFile,
    isBrief: boolean,
    signal: AbortSignal,
  ): Promise<ReadBlocks> {
    const { id, tenantId, fileName, contentType } = file
    const options = { fileName, contentType, scans: await scans.isOn(tenantId) }
    const task = { bytes: spool.file(id), options, tenantId, isBrief } as const
    const slice = timeSlice(clock.steady)
    const blocks: DocumentBlock[] = []
    let info: ReadBlocks['info'] = {
      mediaType: contentType,
      title: null,
      pages: null,
    }
    for await (const part of parser.parse({ name: 'document', ...task }, signal)) {
      if (part.type === 'info') info = part
      else blocks.push(part)
      if (slice.isOver()) await slice.next()
    }
    return { info, blocks }
  }

  /** The parts of the text, with what was read of its scanned pages. */
  async function textOf({ info, blocks }: ReadBlocks, { texts, unread }: ScanTexts) {
    const hash = new Bun.CryptoHasher('sha256')
    const slice = timeSlice(clock.steady)
    const fit: Block[] = []
    let chars = 0
    for (const block of withScans(blocks, texts)) {
      chars += block.text.length
      if (chars > DOCUMENT_CHARS_MAX) throw failure('too_complex')
      hash.update(`${block.text}\n`)
      fit.push(...fitting(block, docBytesMax()))
      if (slice.isOver()) await slice.next()
    }
    const parts: Part[] = []
    for (const part of cutParts(fit, docBytesMax())) {
      parts.push(part)
      if (slice.isOver()) await slice.next()
    }
    if (parts.length === 0) throw failure('no_text')
    const { mediaType, title, pages } = info
    return { mediaType, title, pages, scanned: texts.size, unread, parts, hash: hash.digest('hex') }
  }

  /** Null when the reading is to be brief and takes longer. Throws `SourceFailure`. */
  return async function read(
    file: SpooledFile,
    isBrief: boolean,
    signal: AbortSignal,
  ): Promise<ReadText | UnreadText | null> {
    if (file.bytes === 0) throw failure('no_text')
    try {
      const found = await readBlocks(file, isBrief, signal)
      const { scans: scanned, pages } = found.info
      if (!scanned) return await textOf(found, NO_SCANS)
      const known = await scans.known({ tenant_id: file.tenantId, id: file.id }, scanned)
      if (known) return await textOf(found, known)
      return { scans: { ...scanned, all: pages ?? scanned.pages.length } }
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      if (error.reason === 'slow') return null
      throw failureOfParser(error)
    }
  }
}

export type Read = ReturnType<typeof createReading>

/** The text of each scanned page stands after the few letters that the page itself has. */
function* withScans(
  blocks: readonly DocumentBlock[],
  texts: ReadonlyMap<number, string>,
): Generator<Block> {
  const waiting = [...texts].sort(([a], [b]) => a - b)
  function* before(page: number): Generator<Block> {
    for (let [next] = waiting; next && next[0] < page; [next] = waiting) {
      waiting.shift()
      if (next[1] !== '') yield { text: next[1], page: next[0], heading: null, ocr: true }
    }
  }
  for (const { text, page, heading } of blocks) {
    yield* before(page ?? 0)
    yield { text, page, heading, ocr: texts.has(page ?? 0) || undefined }
  }
  yield* before(Number.POSITIVE_INFINITY)
}
