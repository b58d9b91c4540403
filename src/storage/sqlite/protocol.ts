import type { Statement } from '../db.ts'
import type { DatabaseFile } from './connection.ts'
import type { Fault } from './fault.ts'
import type { BatchResult } from './group-commit.ts'

/** Messages between the event loop and the writer thread; one request is open at a time. */
export type WriterRequest =
  | { readonly type: 'open'; readonly file: DatabaseFile }
  | { readonly type: 'write'; readonly batches: readonly (readonly Statement[])[] }
  | { readonly type: 'close' }

export type WriterAnswer =
  | { readonly type: 'opened' }
  | { readonly type: 'written'; readonly results: readonly BatchResult[] }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault }

/** Messages between the event loop and the reading thread; many may be open. */
export type ReaderAsk =
  | { readonly type: 'open'; readonly file: DatabaseFile }
  | { readonly type: 'read'; readonly statement: Statement }
  | { readonly type: 'close' }
export type ReaderRequest = ReaderAsk & { readonly id: number }

export type ReaderAnswer =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly fault: Fault }
