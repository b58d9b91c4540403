import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, type Statement, sql } from '../db.ts'
import type { VectorSpace } from '../indexes.ts'
import type { Connection } from './connection.ts'

/** pgvector builds no graph over longer vectors. */
const DIMENSIONS_MAX = 4_000
const BUILD_MS_MAX = 24 * 3_600_000

/**
 * Nearest neighbours by graphs (HNSW; Malkov and Yashunin, 2018), one for each length of vectors,
 * over all tenants. They are for servers whose tenants may have so many documents that a search
 * cannot read all their vectors.
 */
export interface VectorGraph {
  /** Whether the graph for this length is ready. If there is none, starts to build it. */
  isReady(dimensions: number): Promise<boolean>
}

export interface GraphOptions {
  readonly db: Pick<Db, 'all'>
  /** Connects to the server itself: a pooler may not wait as long as a build takes. */
  readonly connect: () => Connection
  readonly log?: Logger | undefined
}

interface State {
  /** 0 also for the remains of a build that broke off. */
  readonly is_valid: number
  readonly is_building: number
}

const stateOf = (name: string): Statement => sql`
  SELECT indisvalid AS is_valid, EXISTS (
      SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) AS is_building
  FROM pg_index WHERE indexrelid = to_regclass(${name})`

export function createVectorGraph({ db, connect, log }: GraphOptions): VectorGraph {
  const ready = new Set<number>()
  const building = new Set<number>()

  async function build(name: string, dimensions: number): Promise<void> {
    const connection = connect()
    const ask = (text: string) => connection.send([{ sql: text, args: [] }], BUILD_MS_MAX)
    try {
      await ask(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
      await ask(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON kb_vector
        USING hnsw ((vector::halfvec(${dimensions})) halfvec_cosine_ops)
        WHERE vector_dims(vector) = ${dimensions}`)
    } finally {
      building.delete(dimensions)
      await connection.close()
    }
  }

  function start(name: string, dimensions: number): void {
    building.add(dimensions)
    log?.info('building the graph of vectors', { dimensions })
    build(name, dimensions).then(
      () => log?.info('built the graph of vectors', { dimensions }),
      (error) => log?.error('graph of vectors not built', errorFields(error)),
    )
  }

  return {
    async isReady(dimensions) {
      if (ready.has(dimensions)) return true
      if (dimensions > DIMENSIONS_MAX || building.has(dimensions)) return false
      const name = `kb_vector_near_${dimensions}`
      const [state] = await db.all<State>(stateOf(name))
      if (state?.is_valid === 1) ready.add(dimensions)
      else if (state?.is_building !== 1 && !building.has(dimensions)) start(name, dimensions)
      return ready.has(dimensions)
    },
  }
}

/**
 * The nearest vectors by the graph. Without `strict_order` a scan of the graph ends before it has
 * met a vector of a small tenant. So the statement sets `strict_order` for itself, and finds
 * nothing where that fails. `query` is the text of a vector.
 */
export function nearest(space: VectorSpace, query: string, dimensions: number, limit: number) {
  const distance = `vector::halfvec(${dimensions}) <=> ?::halfvec(${dimensions})`
  return {
    sql: `SELECT key, 1 - distance AS cosine FROM (
        SELECT key, ${distance} AS distance FROM kb_vector
        WHERE tenant_id = ? AND model = ? AND vector_dims(vector) = ${dimensions}
          AND (SELECT set_config('hnsw.iterative_scan', 'strict_order', true)) = 'strict_order'
        ORDER BY ${distance} LIMIT ?) AS near
      ORDER BY distance, key`,
    args: [query, space.tenantId, space.model, query, limit],
  }
}

/**
 * Whether the database supports the order that `nearest` sets. PostgreSQL accepts unknown settings
 * silently, so this loads the extension first, by reading a vector.
 */
export async function knowsStrictOrder(db: Pick<Db, 'get'>): Promise<boolean> {
  const row = await db.get<{ loaded: string; mode: string; is_known: number | null }>(sql`
    SELECT '[1]'::halfvec::text AS loaded,
      set_config('hnsw.iterative_scan', 'strict_order', true) AS mode,
      (SELECT 'strict_order' = ANY (enumvals) FROM pg_settings
        WHERE name = 'hnsw.iterative_scan') AS is_known`)
  return row?.mode === 'strict_order' && row.is_known === 1
}
