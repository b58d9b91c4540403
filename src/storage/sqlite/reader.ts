/**
 * The reading thread: a connection of its own for searches, which scan megabytes and would hold up
 * every open stream if they ran on the event loop.
 */

import { lowerThreadPriority } from '../../core/time-slice.ts'
import type { Statement } from '../db.ts'
import { KEYS_PER_DOC, type Neighbour } from '../indexes.ts'
import { type DatabaseFile, type Fault, faultOf, openConnection, statements } from './connection.ts'
import { cosinesOf, createCodeScan } from './vector-codes.ts'

/** Messages between the event loop and the reading thread; many may be open. */
export type ReaderAsk =
  | { readonly type: 'open'; readonly file: DatabaseFile; readonly isUrgent: boolean }
  | { readonly type: 'read'; readonly statement: Statement }
  | { readonly type: 'nearest'; readonly wanted: NearestWanted }
  | { readonly type: 'close' }
export type ReaderRequest = ReaderAsk & { readonly id: number }

/** The nearest vectors of a space. */
export interface NearestWanted {
  readonly space: string
  readonly query: Float32Array
  readonly limit: number
  /** Reads the codes of the documents to compare, with their numbers. */
  readonly codes: Statement
}

export type ReaderAnswer =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly fault: Fault }

declare const self: Worker

/** Searched pages are read in place, without a copy into SQLite's own cache. */
const MAPPED_BYTES = 8 * 1024 ** 3

/** Vectors that one search reads after the comparison of codes: those with the nearest codes. */
const READ_MAX = 256

/** Views of the word index that store nothing: its terms, and where each of them occurs. */
const VIEWS = [
  'CREATE VIRTUAL TABLE temp.kb_term USING fts5vocab (main, kb_word, row)',
  'CREATE VIRTUAL TABLE temp.kb_occurrence USING fts5vocab (main, kb_word, instance)',
]

function openReader(file: DatabaseFile) {
  const db = openConnection(file, 'read')
  db.run('PRAGMA query_only = OFF')
  for (const view of VIEWS) db.run(view)
  db.run('PRAGMA query_only = ON')
  db.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  const prepared = statements(db)
  return {
    all: prepared.all,
    nearest({ space, query, limit, codes: codesOf }: NearestWanted): Neighbour[] {
      const scan = createCodeScan(query)
      type Row = { doc_num: number; codes: Uint8Array }
      for (const { doc_num, codes } of prepared.iterate<Row>(codesOf)) {
        scan.add(codes, doc_num * KEYS_PER_DOC)
      }
      const read = cosinesOf(space, query, scan.best(READ_MAX))
      return (prepared.all(read) as unknown as Neighbour[]).slice(0, limit)
    },
    close() {
      prepared.close()
      db.close()
    },
  }
}

let reader: ReturnType<typeof openReader> | null = null

function answer(message: ReaderAnswer) {
  self.postMessage(message)
}

function rowsFor(data: ReaderRequest): readonly unknown[] {
  if (data.type === 'read') return reader?.all(data.statement) ?? []
  return data.type === 'nearest' ? (reader?.nearest(data.wanted) ?? []) : []
}

self.onmessage = ({ data }: MessageEvent<ReaderRequest>) => {
  const { id } = data
  try {
    if (data.type === 'open') {
      if (!data.isUrgent) lowerThreadPriority()
      reader = openReader(data.file)
    }
    if (data.type === 'close') reader?.close()
    answer({ id, rows: rowsFor(data) })
  } catch (error) {
    answer({ id, fault: faultOf(error) })
  }
}
