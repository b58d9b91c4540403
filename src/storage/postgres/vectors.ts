import { docsWithin } from '../collections.ts'
import { joined, type Reader, type Statement, sql } from '../db.ts'
import {
  docOf,
  KEYS_PER_DOC,
  type Neighbour,
  type VectorIndex,
  type VectorSpace,
} from '../indexes.ts'
import { entriesOf } from '../word-search.ts'
import { nearest, type VectorGraph } from './vector-graph.ts'
import { seenKeys } from './words.ts'

/**
 * A unit vector scaled to whole numbers: finer than `halfvec` stores it, and four times as fast to
 * write as fractions.
 */
const textOf = (vector: Float32Array) =>
  JSON.stringify(Array.from(vector, (x) => Math.round(x * 32_767)))

/**
 * Lists are sent as JSON text: drivers write arrays in their own form, and encode JSON that is text
 * already a second time.
 */
const listOf = (values: readonly unknown[]) => JSON.stringify(values)

/** Up to this many chunks of a tenant a search compares all vectors, in about 20 ms. */
const EXACT_MAX = 20_000

/** Compares the question with every vector of the space. */
const exact = (space: VectorSpace, query: Float32Array, limit: number) =>
  joined(
    sql`SELECT key, 1 - distance AS cosine FROM (
      SELECT key, vector <=> ${textOf(query)}::halfvec AS distance FROM kb_vector
      WHERE tenant_id = ${space.tenantId} AND model = ${space.model}
        AND vector_dims(vector) = ${query.length}`,
    seenKeys(space.tenantId, space.collections ?? null),
    sql`) AS compared ORDER BY distance, key LIMIT ${limit}`,
  )

/** The same, document by document: for some collections of a tenant with many more passages. */
const exactOf = (
  { tenantId, model, collections }: VectorSpace,
  query: Float32Array,
  limit: number,
) =>
  joined(
    sql`SELECT key, 1 - (vector <=> ${textOf(query)}::halfvec) AS cosine FROM (`,
    docsWithin(tenantId, collections ?? []),
    sql`) AS seen CROSS JOIN LATERAL (
        SELECT key, vector FROM kb_vector
        WHERE key >= seen.num * ${KEYS_PER_DOC} AND key < (seen.num + 1) * ${KEYS_PER_DOC}
          AND tenant_id = ${tenantId} AND model = ${model}
          AND vector_dims(vector) = ${query.length} OFFSET 0) AS own
      ORDER BY cosine DESC, key LIMIT ${limit}`,
  )

/**
 * The vector index by pgvector. A search reads all vectors of its tenant. With a `graph` it does so
 * only for tenants with few passages, and where the graph finds less than was asked for.
 */
export function createVectorIndex(
  reader: Reader,
  graph: VectorGraph | null = null,
  exactMax = EXACT_MAX,
): VectorIndex {
  async function byGraph(
    space: VectorSpace,
    query: Float32Array,
    limit: number,
    read: (statement: Statement) => Promise<Neighbour[]>,
  ): Promise<Neighbour[]> {
    if (!(await graph?.isReady(query.length))) return []
    return read(nearest(space, textOf(query), query.length, limit))
  }

  return {
    upsert({ tenantId, model }, entries) {
      const directed = entries.filter(({ vector }) => vector.some((x) => x !== 0))
      if (directed.length === 0) return []
      const keys = listOf(directed.map(({ key }) => key))
      const vectors = listOf(directed.map(({ vector }) => textOf(vector)))
      return [
        sql`INSERT INTO kb_vector (key, tenant_id, model, vector)
          SELECT k.value::bigint, ${tenantId}, ${model}, l2_normalize(v.value::vector)::halfvec
          FROM json_array_elements_text(${keys}::text::json) WITH ORDINALITY AS k (value, at)
          JOIN json_array_elements_text(${vectors}::text::json) WITH ORDINALITY AS v (value, at)
            USING (at)
          ON CONFLICT (key) DO UPDATE SET tenant_id = excluded.tenant_id,
            model = excluded.model, vector = excluded.vector`,
      ]
    },

    remove: (keys) =>
      [...new Set(keys.map(docOf))].map(
        (doc) => sql`DELETE FROM kb_vector
          WHERE key >= ${doc * KEYS_PER_DOC} AND key < ${(doc + 1) * KEYS_PER_DOC}`,
      ),

    async search(space, query, limit, signal) {
      const read = <Row>(statement: Statement) => reader.all<Row>(space.tenantId, statement, signal)
      const sizeOf = async (within: VectorSpace['collections']) =>
        (await read<{ entries: number }>(entriesOf(space.tenantId, within)))[0]?.entries ?? 0
      if (graph && (await sizeOf(null)) > exactMax) {
        const isPart = space.collections != null
        if (isPart && (await sizeOf(space.collections)) <= exactMax) {
          return read(exactOf(space, query, limit))
        }
        const near = await byGraph(space, query, limit, read)
        if (near.length === limit) return near
      }
      return read(exact(space, query, limit))
    },

    async read({ tenantId, model }, dimensions, keys, signal) {
      const rows = await reader.all<{ vector: string }>(
        tenantId,
        sql`SELECT vector::text AS vector
          FROM json_array_elements_text(${listOf(keys)}::text::json) AS wanted (key)
          JOIN kb_vector v ON v.key = wanted.key::bigint
          WHERE tenant_id = ${tenantId} AND model = ${model}
            AND vector_dims(vector) = ${dimensions}`,
        signal,
      )
      return rows.map(({ vector }) => Float32Array.from(JSON.parse(vector)))
    },

    cosines: ({ tenantId, model }, query, keys, signal) =>
      reader.all<Neighbour>(
        tenantId,
        sql`SELECT v.key, 1 - (vector <=> ${textOf(query)}::halfvec) AS cosine
          FROM json_array_elements_text(${listOf(keys)}::text::json) AS wanted (key)
          JOIN kb_vector v ON v.key = wanted.key::bigint
          WHERE tenant_id = ${tenantId} AND model = ${model}
            AND vector_dims(vector) = ${query.length}
          ORDER BY cosine DESC`,
        signal,
      ),
  }
}
