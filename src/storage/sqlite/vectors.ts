import { docsWithin } from '../collections.ts'
import { joined, type Statement, sql } from '../db.ts'
import { docOf, type Neighbour, type VectorIndex, type VectorSpace } from '../indexes.ts'
import type { ReadThread } from './read-thread.ts'
import { bytesOf, codesOfDocs, cosinesOf } from './vector-codes.ts'

const spaceOf = ({ tenantId, model }: VectorSpace) => `${tenantId}/${model}`

/**
 * The codes to compare. Of some collections they are read document by document, so a search never
 * looks at those of others.
 */
function codesIn({ collections = null, ...space }: VectorSpace): Statement {
  const name = spaceOf(space)
  if (collections === null) {
    return sql`SELECT doc_num, codes FROM kb_vector_code WHERE space = ${name}`
  }
  return joined(
    sql`SELECT c.doc_num, c.codes FROM (`,
    docsWithin(space.tenantId, collections),
    sql`) seen CROSS JOIN kb_vector_code c ON c.doc_num = seen.num WHERE c.space = ${name}`,
  )
}

/** The vector index in plain tables: a search scans codes (vector-codes.ts) and reads the best. */
export function createVectorIndex(reader: ReadThread): VectorIndex {
  return {
    upsert(space, entries) {
      const directed = entries.filter(({ vector }) => vector.some((x) => x !== 0))
      return [
        ...directed.map(
          ({ key, vector }) => sql`INSERT OR REPLACE INTO kb_vector (key, space, vector)
            VALUES (${key}, ${spaceOf(space)}, ${bytesOf(vector)})`,
        ),
        ...codesOfDocs(directed).map(
          ({ doc, codes }) => sql`INSERT OR REPLACE INTO kb_vector_code (doc_num, space, codes)
            VALUES (${doc}, ${spaceOf(space)}, ${codes})`,
        ),
      ]
    },

    remove(keys) {
      const wanted = JSON.stringify(keys)
      const docs = JSON.stringify([...new Set(keys.map(docOf))])
      return [
        sql`DELETE FROM kb_vector WHERE key IN (SELECT value FROM json_each(${wanted}))`,
        sql`DELETE FROM kb_vector_code WHERE doc_num IN (SELECT value FROM json_each(${docs}))`,
      ]
    },

    search: (space, query, limit, signal) =>
      reader.nearest(
        space.tenantId,
        { space: spaceOf(space), query, limit, codes: codesIn(space) },
        signal,
      ),

    async read(space, dimensions, keys, signal) {
      const rows = await reader.all<{ vector: Uint8Array }>(
        space.tenantId,
        sql`SELECT v.vector
          FROM json_each(${JSON.stringify(keys)}) wanted JOIN kb_vector v ON v.key = wanted.value
          WHERE v.space = ${spaceOf(space)} AND length(v.vector) = ${4 * dimensions}`,
        signal,
      )
      return rows.map(({ vector }) => new Float32Array(vector.slice().buffer))
    },

    cosines: (space, query, keys, signal) =>
      reader.all<Neighbour>(space.tenantId, cosinesOf(spaceOf(space), query, keys), signal),
  }
}
