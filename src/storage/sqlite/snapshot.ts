import type { Database } from 'bun:sqlite'
import type { Statement } from '../db.ts'
import { statements } from './connection.ts'

type Row = Readonly<Record<string, unknown>>

const BEGIN: Statement = { sql: 'BEGIN', args: [] }
const COMMIT: Statement = { sql: 'COMMIT', args: [] }

/**
 * Reads of one turn of the event loop share one read transaction. Alone, each read takes and gives
 * back the lock of the write-ahead log, which costs four system calls and more than most reads
 * themselves. `renew` ends the snapshot, so that a read after it sees everything committed before:
 * to be called before a write is acknowledged.
 */
export function snapshotReader(db: Database) {
  const { get, all, run, close } = statements(db)
  let ending: ReturnType<typeof setImmediate> | null = null

  function renew() {
    if (db.inTransaction) run(COMMIT)
  }

  function endOfTurn() {
    ending = null
    renew()
  }

  function begin() {
    if (!db.inTransaction) run(BEGIN)
    ending ??= setImmediate(endOfTurn)
  }

  return {
    get(statement: Statement) {
      begin()
      return get(statement) as Row | null
    },
    all(statement: Statement) {
      begin()
      return all(statement) as Row[]
    },
    renew,
    close() {
      if (ending) clearImmediate(ending)
      renew()
      close()
    },
  }
}
