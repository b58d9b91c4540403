import type { Database } from 'bun:sqlite'
import { docOf } from '../indexes.ts'
import { codesOfDocs } from './vector-codes.ts'

/**
 * The tables of sqlite-vec that held the vectors before 0017-kb-vector, one for each length.
 * Doctor and restore compare the tables of databases of earlier versions with this text.
 */
export const createVec0Table = (dimensions: number) =>
  `CREATE VIRTUAL TABLE IF NOT EXISTS kb_vector_${dimensions} USING vec0(
    space TEXT PARTITION KEY, embedding FLOAT[${dimensions}] distance_metric=cosine,
    chunk_size=64)`

/** The length of the vectors in the table that this statement creates; null for any other. */
export function vec0Dimensions(created: string): number | null {
  const length = /^CREATE VIRTUAL TABLE "?kb_vector_(\d{1,5})"? USING vec0/.exec(created)?.[1]
  return length === undefined ? null : Number(length)
}

interface StoredVector {
  readonly space: string
  readonly embedding: Uint8Array
}

/** Copies all vectors unchanged to the tables of 0017-kb-vector and drops the vec0 tables. */
export function moveVectors(db: Database): void {
  const tables = db.query<{ sql: string | null }, []>('SELECT sql FROM sqlite_schema').all()
  for (const { sql } of tables) {
    const dimensions = vec0Dimensions(sql ?? '')
    if (dimensions === null) continue
    moveTable(db, `kb_vector_${dimensions}`, dimensions)
    db.run(`DROP TABLE kb_vector_${dimensions}`)
  }
}

function moveTable(db: Database, table: string, dimensions: number): void {
  const keys = db.query<{ key: number }, []>(`SELECT rowid AS key FROM ${table} ORDER BY rowid`)
  const stored = db.query<StoredVector, [number]>(
    `SELECT space, embedding FROM ${table} WHERE rowid = ?`,
  )
  const add = db.query('INSERT OR REPLACE INTO kb_vector (key, space, vector) VALUES (?, ?, ?)')
  const addCodes = db.query(
    'INSERT OR REPLACE INTO kb_vector_code (doc_num, space, codes) VALUES (?, ?, ?)',
  )
  let entries: { key: number; vector: Float32Array }[] = []
  let space = ''
  const finish = () => {
    for (const { doc, codes } of codesOfDocs(entries)) addCodes.run(doc, space, codes)
    entries = []
  }
  for (const { key } of keys.all()) {
    const one = stored.get(key)
    if (!one) continue
    if (entries[0] && docOf(entries[0].key) !== docOf(key)) finish()
    space = one.space
    const bytes = one.embedding.slice()
    entries.push({ key, vector: new Float32Array(bytes.buffer, 0, dimensions) })
    add.run(key, space, bytes)
  }
  finish()
}
