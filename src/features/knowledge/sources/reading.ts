import type { Clock } from '../../../core/clock.ts'
import { timeSlice } from '../../../core/time-slice.ts'
import { type FileBytes, ParseFailure, type Parser } from '../../../upstream/ports/parser.ts'
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
  readonly clock: Pick<Clock, 'steady'>
  /** UTF-8 bytes of the text of a document. */
  readonly docBytesMax: number
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
  readonly parts: readonly Part[]
  /** SHA-256 of the whole text. */
  readonly hash: string
}

/** Reads spooled files in the parse processes. */
export function createReading({ parser, spool, clock, docBytesMax }: ReadingOptions) {
  async function readBlocks(file: SpooledFile, isBrief: boolean, signal: AbortSignal) {
    const { id, tenantId, fileName, contentType } = file
    const options = { fileName, contentType }
    const task = { bytes: spool.file(id), options, tenantId, isBrief } as const
    const hash = new Bun.CryptoHasher('sha256')
    const slice = timeSlice(clock.steady)
    const blocks: Block[] = []
    let info = {
      mediaType: contentType,
      title: null as string | null,
      pages: null as number | null,
    }
    for await (const part of parser.parse({ name: 'document', ...task }, signal)) {
      if (part.type === 'info') info = part
      else {
        hash.update(`${part.text}\n`)
        blocks.push(...fitting(part, docBytesMax))
      }
      if (slice.isOver()) await slice.next()
    }
    return { ...info, blocks, hash: hash.digest('hex') }
  }

  /** Null when the reading is to be brief and takes longer. Throws `SourceFailure`. */
  return async function read(
    file: SpooledFile,
    isBrief: boolean,
    signal: AbortSignal,
  ): Promise<ReadText | null> {
    if (file.bytes === 0) throw failure('no_text')
    try {
      const { blocks, mediaType, title, pages, hash } = await readBlocks(file, isBrief, signal)
      const slice = timeSlice(clock.steady)
      const parts: Part[] = []
      for (const part of cutParts(blocks, docBytesMax)) {
        parts.push(part)
        if (slice.isOver()) await slice.next()
      }
      if (parts.length === 0) throw failure('no_text')
      return { mediaType, title, pages, parts, hash }
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      if (error.reason === 'slow') return null
      throw failureOfParser(error)
    }
  }
}

export type Read = ReturnType<typeof createReading>
