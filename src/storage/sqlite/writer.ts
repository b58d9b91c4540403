/**
 * The writer thread: owns the only writing connection, so that a flush to disk or a checkpoint
 * never holds up the event loop. It is told to open, then gets one group at a time.
 */
import { type DatabaseFile, openConnection } from './connection.ts'
import { faultOf } from './fault.ts'
import { groupWriter } from './group-commit.ts'
import type { WriterAnswer, WriterRequest } from './protocol.ts'

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
