import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import {
  type Changes,
  type Db,
  NotAsExpected,
  type Reader,
  type Statement,
  type StoredDb,
  sql,
} from '../db.ts'
import { type Connection, openConnection, type StatementResult } from './connection.ts'
import { createDialect, type Prepared } from './dialect.ts'
import { StatementError } from './faults.ts'
import { createPool } from './pool.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  readonly connectionsMax?: number
  /** Called with the time of each statement or batch, and whether it failed. */
  readonly onAsked?: ((seconds: number, failed: boolean) => void) | undefined
}

export interface PostgresDb extends StoredDb {
  /** The next number of a sequence. */
  next(sequence: string): Promise<number>
}

/** Connections of one replica; PostgreSQL accepts 100 by default. */
const CONNECTIONS_MAX = 20
const READ_MS_MAX = 30_000
const BATCH_MS_MAX = 60_000
/** Attempts at a transaction that conflicts with another one. */
const TRIES = 5

const BEGIN = sql`BEGIN`
const COMMIT = sql`COMMIT`
const ROLLBACK = sql`ROLLBACK`

/** A statement in PostgreSQL's words. */
interface Translated extends Prepared {
  readonly statement: Statement
}

/**
 * PostgreSQL behind the `Db` port. Two simultaneous statements whose condition depends on rows that
 * they do not change, such as a count, could both pass. Such statements take an advisory lock for
 * each of their tables and so run one after another. A reading statement is sent again when its
 * connection was lost. `all` and `get` also take statements that write and return rows.
 */
export function openPostgres(options: PostgresOptions): PostgresDb {
  const { url, clock, connectionsMax = CONNECTIONS_MAX, onAsked = () => {} } = options
  const dialect = createDialect()
  const health = createHealth(() => all(sql`SELECT 1 AS one`))
  const open = () => openConnection({ url, clock })
  const pool = createPool({ clock, open, most: connectionsMax })

  function translate(statement: Statement): Translated {
    const prepared = dialect(statement)
    return { ...prepared, statement: { ...statement, sql: prepared.text } }
  }

  /** Runs `work` on a connection; reports its time and records the database's health. */
  async function asked<Result>(work: (connection: Connection) => Promise<Result>) {
    const start = clock.steady()
    let failed = true
    try {
      const result = await pool.use(work)
      failed = false
      health.answered()
      return result
    } catch (error) {
      if (error instanceof NotAsExpected) failed = false
      health.failed(error)
      throw error
    } finally {
      onAsked((clock.steady() - start) / 1000, failed)
    }
  }

  async function all(statement: Statement): Promise<readonly unknown[]> {
    const { statement: translated, reads } = translate(statement)
    const ask = () => asked((connection) => connection.send([translated], READ_MS_MAX))
    const [answer] = await ask().catch((error: unknown) => {
      if (reads && error instanceof DatabaseAway && error.code !== 'busy') return ask()
      throw error
    })
    return answer?.rows ?? []
  }

  async function batch(list: readonly Statement[]): Promise<Changes[]> {
    if (list.length === 0) return []
    const translated = list.map(translate)
    const [only] = translated
    const isPlain =
      translated.length === 1 && only?.locks.length === 0 && list[0]?.expect === undefined
    const run = (connection: Connection) =>
      isPlain && only
        ? connection.send([only.statement], BATCH_MS_MAX)
        : transaction(connection, translated)
    for (let tries = 1; ; tries++) {
      try {
        const answers = await asked(run)
        return answers.map(({ changes }) => ({ changes }))
      } catch (error) {
        const again = error instanceof StatementError && error.mayRunAgain
        if (!again || tries === TRIES) throw error
      }
    }
  }

  return {
    get: async <Row>(statement: Statement) => ((await all(statement))[0] ?? null) as Row | null,
    all: async <Row>(statement: Statement) => (await all(statement)) as Row[],
    batch,
    run: async (statement) => (await batch([statement]))[0] ?? { changes: 0 },
    trouble: health.trouble,
    takesWrites: health.isWell,
    async next(sequence) {
      const [row] = await all(sql`SELECT nextval(CAST(${sequence} AS regclass)) AS number`)
      return (row as { number: number }).number
    },
    connections: () => pool.inUse() + pool.kept(),
    close: pool.close,
  }
}

/**
 * The locks of tables that more than one statement of a batch changes. Two such batches at once
 * would not see each other's rows, or would deadlock.
 */
function changedTwice(translated: readonly Translated[]): number[] {
  const changed = translated.flatMap(({ changes }) => changes ?? [])
  return changed.filter((lock, index) => changed.indexOf(lock) !== index)
}

/** Runs all statements or none. Afterwards no transaction is open on the connection. */
async function transaction(
  connection: Connection,
  translated: readonly Translated[],
): Promise<StatementResult[]> {
  const locks = [
    ...new Set(translated.flatMap((one) => one.locks).concat(changedTwice(translated))),
  ].sort((a, b) => a - b)
  const taken = locks.map((lock) => ({ sql: 'SELECT pg_advisory_xact_lock($1)', args: [lock] }))
  const statements = translated.map(({ statement }) => statement)
  try {
    const sent = [BEGIN, ...taken, ...statements]
    const { answers, fault } = await connection.settle(sent, BATCH_MS_MAX)
    const changed = answers.slice(1 + taken.length)
    // Checked before `fault`: a statement may have failed because an earlier one changed no row.
    const wrong = changed.findIndex(({ changes }, index) => {
      const expect = statements[index]?.expect
      return expect !== undefined && changes !== expect
    })
    if (wrong >= 0) throw new NotAsExpected(wrong)
    if (fault !== null) throw fault
    await connection.send([COMMIT], BATCH_MS_MAX)
    return changed
  } catch (error) {
    if (connection.isOpen()) await connection.send([ROLLBACK], READ_MS_MAX)
    throw error
  }
}

/** Remembers whether the database last answered. While it is away, each call here probes it. */
function createHealth(probe: () => Promise<unknown>) {
  let away: DatabaseAway | null = null
  let probing: Promise<unknown> | null = null

  const ask = () => {
    probing ??= probe()
      .catch(() => {})
      .finally(() => {
        probing = null
      })
    return probing
  }

  return {
    answered() {
      away = null
    },
    failed(error: unknown) {
      if (error instanceof DatabaseAway) away = error
      else if (error instanceof NotAsExpected || error instanceof StatementError) away = null
    },
    isWell() {
      if (away !== null) void ask()
      return away === null
    },
    async trouble() {
      if (away !== null) await ask()
      return away === null ? null : 'connection_failed'
    },
  }
}

/** Connections that retrieval may use; others stay free for turns. */
const READS_AT_ONCE = 6

/**
 * Runs searches and scans on some connections of the pool. Tenants take turns statement by
 * statement.
 */
export function createReader(db: Pick<Db, 'all'>, slots = READS_AT_ONCE): Reader {
  const turns = createSemaphore({ slots })
  return {
    all: <Row>(tenantId: string, statement: Parameters<Db['all']>[0], signal?: AbortSignal) =>
      turns.run(tenantId, () => db.all<Row>(statement), signal),
  }
}
