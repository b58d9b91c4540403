/** The readable text of a web page. */
export interface PageText {
  readonly title: string
  readonly text: string
}

/**
 * What the parse worker can do, by the name of the task: its options, and the parts it gives. A new
 * task gets a line here and a function in `commands/workers.ts`.
 */
export interface ParseTasks {
  /** A recording as mono samples of 16 bits at `rate`, in several parts. */
  readonly audio: { readonly options: { readonly rate: number }; readonly part: Uint8Array }
  /** An HTML page as text, in one part. */
  readonly page: { readonly options: { readonly contentType: string }; readonly part: PageText }
}

export type ParseTaskName = keyof ParseTasks

export interface ParseTask<Name extends ParseTaskName = ParseTaskName> {
  readonly name: Name
  /** What a stranger sent. */
  readonly bytes: Uint8Array
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
 */
export type ParseFailureReason = 'unreadable' | 'too_long' | 'exhausting'

export class ParseFailure extends Error {
  override readonly name = 'ParseFailure'

  constructor(
    readonly reason: ParseFailureReason,
    options?: ErrorOptions,
  ) {
    super(reason, options)
  }
}
