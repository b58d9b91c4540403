import type { ParseFailureReason } from '../ports/parser.ts'

/** Messages between the server and a parse worker, which does one task at a time. */
export type ParseRequest =
  /** The next bytes of the task's input; it comes in pieces. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The input is whole: begin. */
  | { readonly type: 'begin'; readonly name: string; readonly options: unknown }

export type ParseAnswer =
  | { readonly type: 'part'; readonly part: unknown }
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly reason: ParseFailureReason }
