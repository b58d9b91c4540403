/**
 * The writer thread owns the only writing connection, so that a flush or a checkpoint never holds
 * up the event loop. Its first message opens the file, each later one is a group to write.
 */

import type { Database } from 'bun:sqlite'
import { NotAsExpected, type Statement } from '../db.ts'
import { type DatabaseFile, type Fault, faultOf, openConnection, statements } from './connection.ts'
import { tidyFile } from './erase.ts'

type Batch = readonly Statement[]

export type BatchResult =
  | { readonly changes: number[] }
  /** The place of the statement that changed another number of rows than it expects. */
  | { readonly unexpected: number }
  | Fault

/**
 * Commits many independent batches with one flush to disk (group commit). They run in one
 * transaction. A batch that expects rows runs in a savepoint, so that it fails alone when they do
 * not change. Any other failure is rare: it rolls back the group, and each batch then runs in a
 * transaction of its own, so that only the culprit fails.
 */
function groupWriter(db: Database) {
  const prepared = statements(db)
  const apply = (batch: Batch) =>
    batch.map((statement, index) => {
      const changes = prepared.run(statement)
      if (changes !== (statement.expect ?? changes)) throw new NotAsExpected(index)
      return changes
    })
  /** A transaction, or a savepoint when one is open. */
  const whole = db.transaction(apply)
  const together = db.transaction((batches: readonly Batch[]): BatchResult[] =>
    batches.map((batch) => (expectsRows(batch) ? expecting(batch) : { changes: apply(batch) })),
  )

  function expecting(batch: Batch): BatchResult {
    try {
      return { changes: whole.immediate(batch) }
    } catch (error) {
      if (error instanceof NotAsExpected) return { unexpected: error.index }
      throw error
    }
  }

  function alone(batch: Batch): BatchResult {
    try {
      return expecting(batch)
    } catch (error) {
      return faultOf(error)
    }
  }

  return {
    write(batches: readonly Batch[]): BatchResult[] {
      try {
        return together.immediate(batches)
      } catch (error) {
        return batches.length === 1 ? [faultOf(error)] : batches.map(alone)
      }
    },
    close: prepared.close,
  }
}

const expectsRows = (batch: Batch) => batch.some(({ expect }) => expect !== undefined)

/** Messages between the event loop and the writer thread; one request is open at a time. */
export type WriterRequest =
  | { readonly type: 'open'; readonly file: DatabaseFile }
  | { readonly type: 'write'; readonly batches: readonly (readonly Statement[])[] }
  /** `tidyFile`. */
  | { readonly type: 'tidy'; readonly compact: boolean }
  | { readonly type: 'close' }

export type WriterAnswer =
  | { readonly type: 'opened' }
  | { readonly type: 'written'; readonly results: readonly BatchResult[] }
  | { readonly type: 'tidied'; readonly done: boolean }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault }

declare const self: Worker

let writer: ReturnType<typeof openWriter> | null = null

function openWriter(file: DatabaseFile) {
  const db = openConnection(file, 'write')
  const group = groupWriter(db)
  return {
    write: group.write,
    tidy: (compact: boolean) => tidyFile(db, compact),
    close() {
      group.close()
      try {
        db.run('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // On a full disk the log stays; the next start reads it.
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
    } else if (data.type === 'tidy') {
      answer({ type: 'tidied', done: writer?.tidy(data.compact) ?? false })
    } else {
      writer?.close()
      writer = null
      answer({ type: 'closed' })
    }
  } catch (error) {
    answer({ type: 'failed', fault: faultOf(error) })
  }
}
