/**
 * The writer thread: owns the only writing connection, so that a flush to disk or a checkpoint
 * never holds up the event loop. It is told to open, then gets one group at a time.
 */

import type { Statement } from '../db.ts'
import { type DatabaseFile, type Fault, faultOf, openConnection } from './connection.ts'
import { type BatchResult, groupWriter } from './group-commit.ts'

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

declare const self: Worker

let writer: ReturnType<typeof openWriter> | null = null

function openWriter(file: DatabaseFile) {
  const db = openConnection(file, 'write')
  const group = groupWriter(db)
  return {
    write: group.write,
    close() {
      group.close()
      try {
        db.run('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // On a full disk the log stays, and the next start reads it.
      }
      db.close()
    },
  }
}

function answer(message: WriterAnswer) {
  self.postMessage(message)
}

self.onmessage = ({ data }: MessageEvent<WriterRequest>) => {
  try {
    if (data.type === 'open') {
      writer = openWriter(data.file)
      answer({ type: 'opened' })
    } else if (data.type === 'write') {
      answer({ type: 'written', results: writer?.write(data.batches) ?? [] })
    } else {
      writer?.close()
      writer = null
      answer({ type: 'closed' })
    }
  } catch (error) {
    answer({ type: 'failed', fault: faultOf(error) })
  }
}
