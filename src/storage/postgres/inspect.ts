import type { Clock } from '../../core/clock.ts'
import type { Statement } from '../db.ts'
import { type Connection, openConnection } from './connection.ts'

/** What `doctor` reads from a database without changing it. */
export interface PostgresInspection {
  readonly version: string
  /** Such as 150017. */
  readonly number: number
  /** The version of pgvector: installed in the database, and available to install. */
  readonly vector: string | null
  readonly vectorOffered: string | null
  /** Whether this role can install it. */
  readonly vectorCreatable: boolean
  /** Connections to all databases of the server. */
  readonly connections: number
  readonly connectionsMax: number
  /** By how much its clock is ahead of ours. */
  readonly aheadMs: number
  /** The time of the fastest of a few statements. */
  readonly answerMs: number
  /** Migrations that were applied; empty when no server has used the database. */
  readonly migrations: readonly string[]
  /** What the console has set for the whole server. */
  readonly sealed: readonly { readonly name: string; readonly value_sealed: Uint8Array }[]
}

const MS_MAX = 10_000
const QUESTIONS = 5

const FACTS = `SELECT current_setting('server_version') AS version,
  CAST(current_setting('server_version_num') AS BIGINT) AS number,
  (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
  (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS "vectorOffered",
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
  CAST(current_setting('max_connections') AS BIGINT) AS "connectionsMax",
  to_regclass('migration') IS NOT NULL AS "isUsed"`
const NOW = 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now'

type Told = 'vectorCreatable' | 'aheadMs' | 'answerMs' | 'migrations' | 'sealed'
type Facts = Omit<PostgresInspection, Told> & {
  readonly isUsed: number
}

/** Rejects with `DatabaseAway` when the database does not answer. */
export async function inspectPostgres(url: string, clock: Clock): Promise<PostgresInspection> {
  const connection = openConnection({ url, clock })
  const ask = async <Row>(sql: string): Promise<Row[]> => {
    const statement: Statement = { sql, args: [] }
    const [answer] = await connection.send([statement], MS_MAX)
    return (answer?.rows ?? []) as Row[]
  }
  try {
    const [facts] = await ask<Facts>(FACTS)
    if (!facts) throw new Error('the database gave no row')
    const { isUsed, ...rest } = facts
    const vectorCreatable = facts.vector === null && (await canCreate(connection))
    let answerMs = Number.POSITIVE_INFINITY
    let aheadMs = 0
    for (let i = 0; i < QUESTIONS; i++) {
      const [before, at] = [clock.steady(), clock.now()]
      const [row] = await ask<{ now: number }>(NOW)
      const took = clock.steady() - before
      if (took < answerMs) aheadMs = (row?.now ?? at) - (at + took / 2)
      answerMs = Math.min(answerMs, took)
    }
    const names = isUsed ? await ask<{ name: string }>('SELECT name FROM migration') : []
    const migrations = names.map(({ name }) => name)
    const hasSettings = migrations.length > 0
    const sealed = hasSettings
      ? await ask<PostgresInspection['sealed'][number]>(
          'SELECT name, value_sealed FROM system_setting',
        )
      : []
    return { ...rest, vectorCreatable, answerMs, aheadMs, migrations, sealed }
  } finally {
    await connection.close()
  }
}

/** Tries it and rolls back, because providers allow what the catalogue calls forbidden. */
async function canCreate(connection: Connection): Promise<boolean> {
  const attempt = ['BEGIN', 'CREATE EXTENSION vector'].map((sql) => ({ sql, args: [] }))
  const { fault } = await connection.settle(attempt, MS_MAX)
  await connection.send([{ sql: 'ROLLBACK', args: [] }], MS_MAX)
  return fault === null
}
