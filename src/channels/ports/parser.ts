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

/** What is known of a file before its text. */
export interface DocumentInfo {
  readonly type: 'info'
  readonly mediaType: string
  /** As the file names itself. */
  readonly title: string | null
  /** Pages of a PDF, slides of a presentation. */
  readonly pages: number | null
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
 * What the parse worker can do, by the name of the task: its options, and the parts it gives. A new
 * task gets a line here and a function in `commands/workers.ts`.
 */
export interface ParseTasks {
  /** A recording as mono samples of 16 bits at `rate`, in several parts. */
  readonly audio: { readonly options: { readonly rate: number }; readonly part: Uint8Array }
  /** The seconds of a recording, in one part. */
  readonly duration: { readonly options: object; readonly part: number }
  /** An HTML page as text, in one part. */
  readonly page: { readonly options: { readonly contentType: string }; readonly part: PageText }
  /** A file that people have as text: one `DocumentInfo`, then its blocks. */
  readonly document: {
    readonly options: { readonly fileName: string; readonly contentType: string | null }
    readonly part: DocumentPart
  }
}

export type ParseTaskName = keyof ParseTasks

/** A file that the parse process reads itself, so that it never lies in the server's memory. */
export interface FileBytes {
  readonly path: string
}

export interface ParseTask<Name extends ParseTaskName = ParseTaskName> {
  readonly name: Name
  /** What a stranger sent, or the file of ours that it was written to. */
  readonly bytes: Uint8Array | FileBytes
  readonly options: ParseTasks[Name]['options']
  /** Tenants get the processes in turn. */
  readonly tenantId: string
}

/** Reads what strangers send in processes that may be lost: codecs, containers, markup. */
export interface Parser {
  /**
   * The parts of the result in order. The work runs ahead of the reader. Throws `ParseFailure`, or
   * the signal's reason; leaving the iteration ends the work.
   */
  parse<Name extends ParseTaskName>(
    task: ParseTask<Name>,
    signal: AbortSignal,
  ): AsyncGenerator<ParseTasks[Name]['part']>
}

/**
 * `unreadable`: not what it claims to be, or damaged. `too_long`: more than the task's own limit.
 * `exhausting`: its process needed too much memory or time and was ended, or it crashed.
 * Of documents: `encrypted`: it needs a password. `no_text`: it has none, such as a scan.
 * `unsupported`: not a kind of file that is read.
 */
export type ParseFailureReason =
  | 'unreadable'
  | 'too_long'
  | 'exhausting'
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
