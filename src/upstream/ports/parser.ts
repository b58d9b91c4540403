/** The readable text of a web page. */
export interface PageText {
  readonly title: string
  readonly text: string
}

export type DocumentKind =
  | 'pdf'
  | 'docx'
  | 'pptx'
  | 'xlsx'
  | 'epub'
  | 'html'
  | 'csv'
  | 'markdown'
  | 'text'
  | 'picture'

/** What a parser reports of a file before its text. */
export interface DocumentInfo {
  readonly type: 'info'
  readonly mediaType: string
  /** The title in the file's metadata. */
  readonly title: string | null
  /** Pages of a PDF, slides of a presentation. */
  readonly pages: number | null
  /** Pages that are pictures; absent where there are none, or none were asked for. */
  readonly scans?: ScannedPages
}

/** The pages of a file that are pictures. */
export interface ScannedPages {
  /** From 1, in order. */
  readonly pages: readonly number[]
  /** SHA-256 of the file. */
  readonly fileHash: string
}

/** The next text of a file as Markdown: never blank, at most about 4,000 characters. */
export interface DocumentBlock {
  readonly type: 'block'
  readonly text: string
  /** From 1. A block lies on one page. */
  readonly page: number | null
  /** The nearest heading before or at the beginning of the text, at most 200 characters. */
  readonly heading: string | null
}

export type DocumentPart = DocumentInfo | DocumentBlock

/**
 * The tasks of the parse worker by name: their options, and the parts of their results. A new task
 * gets a line here and a function in `commands/workers.ts`.
 */
export interface ParseTasks {
  /** A recording as mono samples of 16 bits at `rate`, in several parts. */
  readonly audio: { readonly options: { readonly rate: number }; readonly part: Uint8Array }
  /** The seconds of a recording, in one part. */
  readonly duration: { readonly options: object; readonly part: number }
  /** An HTML page as text, in one part. */
  readonly page: { readonly options: { readonly contentType: string }; readonly part: PageText }
  /** The text of a document: one `DocumentInfo`, then its blocks. */
  readonly document: {
    readonly options: {
      readonly fileName: string
      readonly contentType: string | null
      /** Whether pages that are pictures are named; such a file is no failure then. */
      readonly scans?: boolean
    }
    readonly part: DocumentPart
  }
  /** A page of a PDF, or a picture, as JPEG with sides of at most `sideMax` pixels. */
  readonly drawing: {
    readonly options: { readonly page: number; readonly sideMax: number }
    readonly part: Uint8Array
  }
}

export type ParseTaskName = keyof ParseTasks

/** A file that the parse process reads itself, so that it never lies in the server's memory. */
export interface FileBytes {
  readonly path: string
}

export interface ParseTask<Name extends ParseTaskName = ParseTaskName> {
  readonly name: Name
  /** The untrusted bytes, or our file that holds them. */
  readonly bytes: Uint8Array | FileBytes
  readonly options: ParseTasks[Name]['options']
  /** The tenant that it is for: tenants take turns. */
  readonly tenantId: string
  /** A document that is to be read in seconds or not now: throws `slow` after that time. */
  readonly isBrief?: boolean
}

/** Parses untrusted bytes (codecs, containers, markup) in processes that may be lost. */
export interface Parser {
  /**
   * The parts of the result in order. The worker does not wait for the reader. Throws
   * `ParseFailure`, or the signal's reason; leaving the iteration ends the work.
   */
  parse<Name extends ParseTaskName>(
    task: ParseTask<Name>,
    signal: AbortSignal,
  ): AsyncGenerator<ParseTasks[Name]['part']>
}

/**
 * `unreadable`: not what it claims to be, or damaged. `too_long`: over the task's own limit.
 * `exhausting`: its process crashed, or was ended for its use of memory or time.
 * `slow`: a brief task took longer.
 * For documents also: `encrypted`: needs a password. `no_text`: has no text, such as a scan.
 * `unsupported`: a kind of file that no parser reads.
 */
export type ParseFailureReason =
  | 'unreadable'
  | 'too_long'
  | 'exhausting'
  | 'slow'
  | 'encrypted'
  | 'no_text'
  | 'unsupported'

export class ParseFailure extends Error {
  override readonly name = 'ParseFailure'

  constructor(
    readonly reason: ParseFailureReason,
    options?: ErrorOptions,
  ) {
    super(reason, options)
  }
}
