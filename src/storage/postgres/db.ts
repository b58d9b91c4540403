import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import { createSemaphore, type Semaphore } from '../../core/semaphore.ts'
import {
  type Changes,
  type ListReader,
  NotAsExpected,
  type Statement,
  type StoredDb,
  sql,
} from '../db.ts'
import { type Connection, openConnection, type StatementResult } from './connection.ts'
import { isRead, locksOf, tenantOf, textOf } from './dialect.ts'
import { isSlow, StatementError, tooSlow } from './faults.ts'
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
  /** Reads for long; ends when the signal aborts. */
  scan<Row>(tenantId: string, statement: Statement, signal?: AbortSignal): Promise<Row[]>
}

/** Connections of one replica; PostgreSQL accepts 100 by default. */
const CONNECTIONS_MAX = 20
const READ_MS_MAX = 30_000
const SCAN_MS_MAX = 10_000
const BATCH_MS_MAX = 60_000
/** Attempts at a transaction that conflicts with another one. */
const TRIES = 5

const BEGIN = sql`BEGIN`
const COMMIT = sql`COMMIT`
const ROLLBACK = sql`ROLLBACK`

const BEGIN_SCAN = sql`BEGIN READ ONLY`
const BOUND_SCAN = { sql: `SET LOCAL statement_timeout = ${SCAN_MS_MAX}`, args: [] }

/**
 * PostgreSQL behind the `Db` port. Statements with the same lock wait for each other: those of this
 * process before they take a connection, those of others at an advisory lock. A reading statement
 * is sent again when its connection was lost. `all` and `get` also take statements that write and
 * return rows, but none that needs a lock.
 */
export function openPostgres(options: PostgresOptions): PostgresDb {
  const { url, clock, connectionsMax = CONNECTIONS_MAX, onAsked = () => {} } = options
  const health = createHealth(() => all(sql`SELECT 1 AS one`))
  const open = () => openConnection({ url, clock, statementMsMax: READ_MS_MAX })
  const pool = createPool({ clock, open, most: connectionsMax })
  const locking = createSemaphore({ perKey: 1 })

  /** Runs `work` on a connection; reports its time and records the database's health. */
  async function asked<Result>(
    tenant: string,
    work: (connection: Connection) => Promise<Result>,
    isNew = false,
  ) {
    const start = clock.steady()
    let failed = true
    try {
      const result = await pool.use(tenant, work, isNew)
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

  const sending =
    (tenant: string, sent: readonly Statement[], msMax: number, signal?: AbortSignal) =>
    (isNew?: boolean) =>
      asked(tenant, (connection) => connection.send(sent, msMax, signal), isNew)

  async function all(statement: Statement): Promise<readonly unknown[]> {
    if (statement.locks) throw new Error('a statement with a lock needs a transaction')
    const ask = sending(tenantOf(statement), [translate(statement)], READ_MS_MAX)
    const [answer] = await (isRead(statement) ? twice(ask) : ask())
    return answer?.rows ?? []
  }

  async function scan<Row>(tenantId: string, statement: Statement, signal?: AbortSignal) {
    const sent = [BEGIN_SCAN, BOUND_SCAN, translate(statement), COMMIT]
    const ask = sending(tenantId, sent, SCAN_MS_MAX, signal)
    const [, , answer] = await twice(ask).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw error
    })
    return (answer?.rows ?? []) as Row[]
  }

  async function batch(list: readonly Statement[]): Promise<Changes[]> {
    if (list.length === 0) return []
    const locks = locksOf(list)
    const tenant = list.map(tenantOf).find((one) => one !== '') ?? ''
    const statements = list.map(translate)
    const isPlain = list.length === 1 && locks.length === 0 && list[0]?.expect === undefined
    const run = isPlain
      ? (connection: Connection) => connection.send(statements, BATCH_MS_MAX)
      : (connection: Connection) => transaction(connection, locks, statements)
    const release = await take(locking, locks)
    try {
      const answers = await untilNoConflict(() => asked(tenant, run))
      return answers.map(({ changes }) => ({ changes }))
    } finally {
      release()
    }
  }

  return {
    get: async <Row>(statement: Statement) => ((await all(statement))[0] ?? null) as Row | null,
    all: async <Row>(statement: Statement) => (await all(statement)) as Row[],
    batch,
    run: async (statement) => (await batch([statement]))[0] ?? { changes: 0 },
    scan,
    trouble: health.trouble,
    takesWrites: health.isWell,
    next: async (sequence) => numberOf(await all(nextOf(sequence))),
    connections: () => pool.inUse() + pool.kept(),
    close: pool.close,
  }
}

const nextOf = (sequence: string) => sql`SELECT nextval(CAST(${sequence} AS regclass)) AS number`
const numberOf = ([row]: readonly unknown[]) => (row as { number: number }).number

const translate = (statement: Statement): Statement => ({
  ...statement,
  sql: textOf(statement.sql, statement.args),
})

/** Faults after which the same statement would only take as long again. */
const FINAL = new Set(['busy', 'timeout', 'aborted'])

/** Asks once more, by a new connection, when one was lost. */
async function twice<Result>(ask: (isNew?: boolean) => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    const isLost = error instanceof DatabaseAway && !isSlow(error) && !FINAL.has(error.code)
    if (!isLost) throw error
    return await ask(true)
  }
}

/** Runs a transaction again that conflicted with another one. */
async function untilNoConflict<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      const again = error instanceof StatementError && error.mayRunAgain
      if (!again) throw error
      if (tries === TRIES) throw tooSlow('others changed the same rows again and again')
    }
  }
}

/** Waits for locks one after another, in their order; gives them back together. */
async function take(locking: Semaphore, locks: readonly number[]): Promise<() => void> {
  const releases: (() => void)[] = []
  for (const lock of locks) releases.push(await locking.acquire(String(lock)))
  return () => {
    for (const release of releases) release()
  }
}

/** Runs all statements or none. Afterwards no transaction is open on the connection. */
async function transaction(
  connection: Connection,
  locks: readonly number[],
  statements: readonly Statement[],
): Promise<StatementResult[]> {
  const taken = locks.map((lock) => ({ sql: 'SELECT pg_advisory_xact_lock($1)', args: [lock] }))
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
      if (error instanceof DatabaseAway && !isSlow(error) && error.code !== 'aborted') away = error
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
 * statement. A statement whose signal aborts is stopped.
 */
export function createReader(db: Pick<PostgresDb, 'scan'>, slots = READS_AT_ONCE): ListReader {
  const turns = createSemaphore({ slots })
  return {
    isSideBySide: true,
    all: <Row>(tenantId: string, statement: Statement, signal?: AbortSignal) =>
      turns.run(tenantId, () => db.scan<Row>(tenantId, statement, signal), signal),
  }
}
