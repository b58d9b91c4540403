import { Database } from 'bun:sqlite'

/** A wait that only a writer that hangs would reach. */
const BUSY_MS = 60_000

/**
 * Opens the database file of a box beside the product. It waits for a server that writes, recovers
 * or closes the file at this moment; SQLite alone would refuse at once. The caller closes it.
 */
export function openBoxFile(path: string, options: { readonly?: true } = {}): Database {
  const db = new Database(path, options.readonly ? { readonly: true } : { readwrite: true })
  db.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return db
}
