import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, type Statement, sql } from '../db.ts'
import type { VectorSpace } from '../indexes.ts'
import type { Leases } from '../shared-state.ts'
import type { Connection } from './connection.ts'
import { seenKeys } from './words.ts'

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

type Building = Pick<Leases, 'hold'>

export interface GraphOptions {
  readonly db: Pick<Db, 'all'>
  readonly clock: Pick<Clock, 'steady'>
  /** Of several servers one builds; null before they know of each other. */
  readonly leases: () => Building | null
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

/** A failed build is tried again after these waits; the last one repeats. */
const AGAIN_MS = [1, 10, 60].map((minutes) => minutes * MINUTE_MS)

export function createVectorGraph(options: GraphOptions): VectorGraph {
  const { db, connect, clock, log, leases: leasesOf } = options
  const ready = new Set<number>()
  const building = new Set<number>()
  const failed = new Map<number, { readonly times: number; readonly until: number }>()

  const readState = async (name: string) => (await db.all<State>(stateOf(name)))[0]

  async function build(name: string, dimensions: number, signal: AbortSignal): Promise<void> {
    // Another server may have built it since it was asked for.
    if ((await readState(name))?.is_valid === 1) return
    const connection = connect()
    const ask = (text: string) => connection.send([{ sql: text, args: [] }], BUILD_MS_MAX, signal)
    try {
      await ask('SET statement_timeout = 0')
      await ask(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
      await ask(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON kb_vector
        USING hnsw ((vector::halfvec(${dimensions})) halfvec_cosine_ops)
        WHERE vector_dims(vector) = ${dimensions}`)
    } finally {
      await connection.close()
    }
  }

  async function start(leases: Building, name: string, dimensions: number): Promise<void> {
    building.add(dimensions)
    try {
      const work = (signal: AbortSignal) => build(name, dimensions, signal)
      const isDone = await leases.hold(`graph ${dimensions}`, new AbortController().signal, work)
      building.delete(dimensions)
      if (isDone) log?.info('built the graph of vectors', { dimensions })
    } catch (error) {
      const times = (failed.get(dimensions)?.times ?? 0) + 1
      const wait = AGAIN_MS[Math.min(times, AGAIN_MS.length) - 1] ?? 0
      failed.set(dimensions, { times, until: clock.steady() + wait })
      building.delete(dimensions)
      log?.error('graph of vectors not built', errorFields(error))
    }
  }

  const waits = (dimensions: number) =>
    building.has(dimensions) || clock.steady() < (failed.get(dimensions)?.until ?? 0)

  return {
    async isReady(dimensions) {
      if (ready.has(dimensions)) return true
      if (dimensions > DIMENSIONS_MAX || waits(dimensions)) return false
      const name = `kb_vector_near_${dimensions}`
      const state = await readState(name)
      const leases = leasesOf()
      if (state?.is_valid === 1) ready.add(dimensions)
      else if (leases && state?.is_building !== 1 && !waits(dimensions))
        void start(leases, name, dimensions)
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
  const seen = seenKeys(space.tenantId, space.collections ?? null)
  const distance = `vector::halfvec(${dimensions}) <=> ?::halfvec(${dimensions})`
  return {
    sql: `SELECT key, 1 - distance AS cosine FROM (
        SELECT key, ${distance} AS distance FROM kb_vector
        WHERE tenant_id = ? AND model = ? AND vector_dims(vector) = ${dimensions}
          ${seen.sql}
          AND (SELECT set_config('hnsw.iterative_scan', 'strict_order', true)) = 'strict_order'
        ORDER BY ${distance} LIMIT ?) AS near
      ORDER BY distance, key`,
    args: [query, space.tenantId, space.model, ...seen.args, query, limit],
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
