import { type Db, type Statement, sql } from '../db.ts'
import type { Neighbour, VectorIndex, VectorSpace } from '../indexes.ts'
import type { ReadThread } from './read-thread.ts'

/**
 * Vectors that sqlite-vec holds in one row on disk. A tenant's last row is partly empty, so it is
 * small; a search is as fast as with the extension's default of 1,024.
 */
const ROW_VECTORS = 64

const table = (dimensions: number) => `kb_vector_${dimensions}`
const partition = ({ tenantId, model }: VectorSpace) => `${tenantId}/${model}`
/** A copy, because a message to a thread carries the whole buffer that a view lies in. */
const bytes = (vector: Float32Array) => new Uint8Array(vector.slice().buffer)

/**
 * A table of sqlite-vec has one length of vector, so each length that occurs gets its own. Doctor
 * and restore compare this text with that of the database: another one needs a migration.
 */
export const createVectorTable = (dimensions: number): Statement => ({
  sql: `CREATE VIRTUAL TABLE IF NOT EXISTS ${table(dimensions)} USING vec0(
    space TEXT PARTITION KEY, embedding FLOAT[${dimensions}] distance_metric=cosine,
    chunk_size=${ROW_VECTORS})`,
  args: [],
})

/** The length of the vectors in the table that this statement creates; null for any other. */
export function vectorTableDimensions(created: string): number | null {
  const length = /^CREATE VIRTUAL TABLE "?kb_vector_(\d{1,5})"? USING vec0/.exec(created)?.[1]
  return length === undefined ? null : Number(length)
}

const tableNamed = (name: string): Statement => sql`
  SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ${name}`

const removal = (dimensions: number, key: number): Statement => ({
  sql: `DELETE FROM ${table(dimensions)} WHERE rowid = ?`,
  args: [key],
})

interface Found {
  readonly key: number
  readonly distance: number
}

const neighbours = (rows: readonly Found[]): Neighbour[] =>
  rows.map(({ key, distance }) => ({ key, cosine: 1 - distance }))

/** The vector index in tables of sqlite-vec. Vectors of the model in use are searched exactly. */
export async function openVectorIndex(db: Db, reader: ReadThread): Promise<VectorIndex> {
  const rows = await db.all<{ name: string }>({
    sql: `SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING vec0%'`,
    args: [],
  })
  /** Lengths whose table exists, or will when a batch that was handed out commits. */
  const lengths = new Set(rows.map(({ name }) => Number(name.split('_').at(-1))))

  /** Lengths whose table was seen. A table is never dropped. */
  const stored = new Set(lengths)

  /** There is no table, hence nothing to find, before the first batch of a length commits. */
  async function isStored(tenantId: string, dimensions: number): Promise<boolean> {
    if (stored.has(dimensions) || !lengths.has(dimensions)) return stored.has(dimensions)
    const [found] = await reader.all(tenantId, tableNamed(table(dimensions)))
    if (found) stored.add(dimensions)
    return found !== undefined
  }

  async function read<Row>(
    tenantId: string,
    dimensions: number,
    statement: Statement,
    signal?: AbortSignal,
  ): Promise<Row[]> {
    if (!(await isStored(tenantId, dimensions))) return []
    return await reader.all<Row>(tenantId, statement, signal)
  }

  return {
    upsert(space, entries) {
      const directed = entries.filter(({ vector }) => vector.some((x) => x !== 0))
      const dimensions = directed[0]?.vector.length
      if (dimensions === undefined) return []
      lengths.add(dimensions)
      return [
        createVectorTable(dimensions),
        ...directed.flatMap(({ key, vector }) => [
          removal(dimensions, key),
          {
            sql: `INSERT INTO ${table(dimensions)} (rowid, space, embedding) VALUES (?, ?, ?)`,
            args: [key, partition(space), bytes(vector)],
          },
        ]),
      ]
    },

    remove: (keys) =>
      [...lengths].flatMap((dimensions) => [
        createVectorTable(dimensions),
        ...keys.map((key) => removal(dimensions, key)),
      ]),

    async search(space, query, limit, signal) {
      const statement = {
        sql: `SELECT rowid AS key, distance FROM ${table(query.length)}
          WHERE space = ? AND embedding MATCH ? AND k = ? ORDER BY distance`,
        args: [partition(space), bytes(query), limit],
      }
      return neighbours(await read<Found>(space.tenantId, query.length, statement, signal))
    },

    async read(space, dimensions, keys, signal) {
      const statement = {
        sql: `SELECT v.embedding ${keyed(dimensions)}`,
        args: [JSON.stringify(keys), partition(space)],
      }
      type Row = { embedding: Uint8Array }
      const rows = await read<Row>(space.tenantId, dimensions, statement, signal)
      return rows.map(({ embedding }) => new Float32Array(embedding.slice().buffer))
    },

    async cosines(space, query, keys, signal) {
      const statement = {
        sql: `SELECT v.rowid AS key, vec_distance_cosine(v.embedding, ?) AS distance
          ${keyed(query.length)}`,
        args: [bytes(query), JSON.stringify(keys), partition(space)],
      }
      return neighbours(await read<Found>(space.tenantId, query.length, statement, signal))
    },
  }
}

/** The vectors of the keys, found one by one. */
const keyed = (dimensions: number) => `
  FROM json_each(?) wanted CROSS JOIN ${table(dimensions)} v ON v.rowid = wanted.value
  WHERE v.space = ?`
