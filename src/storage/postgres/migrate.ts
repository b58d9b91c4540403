import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import {
  ageOfServer,
  lackedByServer,
  REBUILD_SERVER,
  REBUILT_SERVER,
  TOO_OLD,
} from '../before-first-release.ts'
import { sql } from '../db.ts'
import type { Migration } from '../migrations/index.ts'
import { refusalOf } from './address.ts'
import { type Connection, openConnection } from './connection.ts'
import { namedLock } from './dialect.ts'
import { StatementError } from './faults.ts'

/** For work of minutes, where a role or a pooler bounds statements. */
export const UNBOUND = 'SET LOCAL statement_timeout = 0'

/** The oldest supported version of PostgreSQL, as `server_version_num` gives it. */
export const VERSION_MIN = 130_000
/** How long to wait for a database server that is starting. */
const START_MS_MAX = 30_000
const AGAIN_MS = 500
const MIGRATE_MS_MAX = 600_000
/** Servers of two versions may run side by side when they are this many migrations apart. */
const NEWER_MAX = 1

const STARTING = namedLock('migrate')
/** For a transaction: servers that start wait until it ends. */
export const STARTS_WAIT = sql`SELECT pg_advisory_xact_lock(${STARTING})`

/** What keeps a server from using a database: a sentence for the operator. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase'
}

export interface MigrateOptions {
  /** The direct address where there is one, else that of the pooler. */
  readonly url: string
  readonly clock: Clock
  readonly migrations: readonly Migration[]
}

/**
 * Waits for the database, checks that it can be used, and brings its tables up to date, in one
 * transaction: of servers that start at the same time one does it and the others wait. Returns the
 * names of the migrations that were applied. Throws `UnusableDatabase`.
 */
export const migratePostgres = ({ migrations, ...at }: MigrateOptions): Promise<string[]> =>
  onceStarted(at, (connection) => migrate(connection, migrations))

/** Waits until an address answers, such as that of a pooler. Throws `UnusableDatabase`. */
export const untilAnswers = (at: Omit<MigrateOptions, 'migrations'>): Promise<unknown> =>
  onceStarted(at, (connection) => ask(connection, 'SELECT 1'))

/** Tries for half a minute while the database is away: it may be starting. */
async function onceStarted<Result>(
  { url, clock }: Omit<MigrateOptions, 'migrations'>,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const until = clock.steady() + START_MS_MAX
  for (;;) {
    let connection: Connection | null = null
    try {
      connection = openConnection({ url, clock })
      return await work(connection)
    } catch (error) {
      if (!isStarting(error)) throw unusable(error)
      if (clock.steady() >= until) throw new UnusableDatabase(`cannot be reached: ${reason(error)}`)
    } finally {
      await connection?.close()
    }
    await clock.sleep(AGAIN_MS)
  }
}

const ask = async (connection: Connection, sql: string, ...args: (string | number)[]) => {
  const [answer] = await connection.send([{ sql, args }], MIGRATE_MS_MAX)
  return (answer?.rows ?? []) as Readonly<Record<string, unknown>>[]
}

async function migrate(connection: Connection, migrations: readonly Migration[]) {
  const [version] = await ask(connection, `SELECT current_setting('server_version_num') AS is`)
  if (Number(version?.is) < VERSION_MIN)
    throw new UnusableDatabase('is older than PostgreSQL 13, which is the oldest that works')
  await ask(connection, 'BEGIN')
  await ask(connection, UNBOUND)
  await ask(connection, 'SELECT pg_advisory_xact_lock($1)', STARTING)
  await ask(connection, 'CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY)')
  const done = (await ask(connection, 'SELECT name FROM migration')).map(({ name }) => String(name))
  const age = ageOfServer(done)
  if (age === 'too old') throw new UnusableDatabase(TOO_OLD)
  const unknown = done.filter((name) => migrations.every((one) => one.name !== name))
  if (age === 'released' && unknown.length > NEWER_MAX)
    throw new UnusableDatabase(
      `was written by a newer Moonbase (it has ${unknown[0]}); use that version, or restore a ` +
        'dump of before its upgrade',
    )
  await needVectors(connection)
  const pending = migrations.filter(({ name }) => age === 'before' || !done.includes(name))
  if (age === 'before') {
    for (const sql of lackedByServer(done)) await ask(connection, sql)
    await ask(connection, 'DELETE FROM migration')
  }
  for (const [index, { name, sql }] of pending.entries()) {
    const isRebuilt = age === 'before' && index === 0
    if (isRebuilt) await ask(connection, REBUILD_SERVER)
    await ask(connection, sql)
    if (isRebuilt) await ask(connection, REBUILT_SERVER)
    await ask(connection, 'INSERT INTO migration (name) VALUES ($1)', name)
  }
  await ask(connection, 'COMMIT')
  return pending.map(({ name }) => name)
}

const INSUFFICIENT_PRIVILEGE = '42501'
const NO_SUCH_FILE = '58P01'
const NOT_SUPPORTED = '0A000'

/** The oldest supported version of pgvector, the first with half-precision vectors. */
export const VECTOR_MIN = [0, 7] as const

export function isOldVector(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === VECTOR_MIN[0] && minor < VECTOR_MIN[1]
}

async function needVectors(connection: Connection): Promise<void> {
  const version = `SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`
  const [there] = await ask(connection, version)
  if (!there) await createVectors(connection)
  const [found] = await ask(connection, version)
  if (isOldVector(String(found?.version)))
    throw new UnusableDatabase(
      `has version ${found?.version} of the extension vector; the oldest that works is ` +
        `${VECTOR_MIN.join('.')} (install it and run ALTER EXTENSION vector UPDATE)`,
    )
}

async function createVectors(connection: Connection): Promise<void> {
  try {
    await ask(connection, 'CREATE EXTENSION vector')
  } catch (error) {
    const code = error instanceof StatementError ? error.code : ''
    if (code === INSUFFICIENT_PRIVILEGE)
      throw new UnusableDatabase(
        'lacks the extension vector, which its role may not create; as an administrator of that ' +
          'database run CREATE EXTENSION vector',
      )
    if ([NO_SUCH_FILE, NOT_SUPPORTED].includes(code))
      throw new UnusableDatabase('lacks the extension vector (pgvector), which must be installed')
    throw error
  }
}

/** Whether waiting may help: it does not for a wrong user, database name or certificate. */
const isStarting = (error: unknown) => error instanceof DatabaseAway && refusalOf(error) === null

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))

function unusable(error: unknown): unknown {
  if (error instanceof DatabaseAway) return new UnusableDatabase(`refuses us: ${reason(error)}`)
  return error instanceof StatementError
    ? new UnusableDatabase(`answers with an error: ${reason(error)}`)
    : error
}
