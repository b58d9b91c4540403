import { type Config, ConfigError, loadConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { databasePath, lockPath } from '../data-folder/data-folder.ts'
import { fileStamp, statOrNull } from '../data-folder/files.ts'
import { explainStorage, OperatorError } from '../data-folder/operator-error.ts'
import { openSpool } from '../data-folder/spool.ts'
import type { Statement } from '../storage/db.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { type Connection, openConnection } from '../storage/postgres/connection.ts'
import { textOf } from '../storage/postgres/dialect.ts'
import {
  migratePostgres,
  STARTS_WAIT,
  UNBOUND,
  UnusableDatabase,
} from '../storage/postgres/migrate.ts'
import { MIGRATIONS as OF_POSTGRES } from '../storage/postgres/migrations/index.ts'
import { LIVE_SERVERS } from '../storage/postgres/turn-order.ts'
import { createVectorIndex } from '../storage/postgres/vectors.ts'
import { createWordIndex } from '../storage/postgres/words.ts'
import { takeLock } from '../storage/sqlite/connection.ts'
import { openExisting } from '../storage/sqlite/inspect.ts'
import { migrate } from '../storage/sqlite/migrate.ts'
import { type Invocation, parseArguments, UsageError } from './arguments.ts'
import {
  copyAll,
  copyUploads,
  type Execute,
  emptyAll,
  firstFilled,
  miscounted,
  stepsOf,
  unknownTables,
} from './copy-store.ts'
import { createProgress } from './progress.ts'
import { createResealing } from './resealing.ts'

const USAGE = 'usage: moonbase migrate --from FOLDER [--force]'
/** Time limit of one portion. */
const STEP_MS_MAX = 600_000

/**
 * `moonbase migrate --from FOLDER`: copies a data folder into the database of MB_DATABASE_URL in
 * one transaction, so that an interrupted copy leaves nothing behind.
 */
export async function runMigrate({ args, env, write }: Invocation): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    from: { type: 'string' },
    force: { type: 'boolean' },
  })
  const { from: folder } = values
  if (typeof folder !== 'string' || positionals.length > 0) throw new UsageError(USAGE)
  const config = loadConfig(env)
  const url = config.MB_DATABASE_DIRECT_URL ?? config.MB_DATABASE_URL
  if (url === undefined) throw new ConfigError('MB_DATABASE_URL must name the database to fill')
  if (!statOrNull(databasePath(folder))) {
    throw new OperatorError(`${folder} holds no database of Moonbase`)
  }
  const lock = takeLock(lockPath(folder))
  if (!lock) throw new OperatorError(`a server runs on ${folder}; stop it first`)
  try {
    const copied = await copyBox({ config, folder, url, replace: values.force === true, write })
    write(report(folder, copied))
  } catch (error) {
    if (error instanceof UnusableDatabase)
      throw new OperatorError(`MB_DATABASE_URL ${error.message}`)
    throw explainStorage(error, folder)
  } finally {
    lock.release()
  }
}

interface Wanted {
  readonly config: Config
  readonly folder: string
  readonly url: string
  /** Whether existing rows of the database may be deleted. */
  readonly replace: boolean
  readonly write: Invocation['write']
}

interface Copied {
  readonly counts: ReadonlyMap<string, number>
  /** Files that wait to be read. */
  readonly uploads: number
  /** Sealed values that neither key opens. */
  readonly unreadable: number
}

async function copyBox({ config, folder, url, replace, write }: Wanted): Promise<Copied> {
  const clock = systemClock()
  const path = databasePath(folder)
  // A folder of an earlier version is copied and migrated first, as at a start.
  migrate({ path, extensions: [] }, MIGRATIONS, fileStamp(new Date(clock.now())))
  await migratePostgres({ url, clock, migrations: OF_POSTGRES })
  const source = openExisting(path)
  const connection = openConnection({ url, clock })
  const execute = executor(connection)
  const sealing = createResealing(config, folder)
  try {
    const [unknown] = unknownTables(source)
    if (unknown) throw new Error(`the copy does not know the table ${unknown}`)
    await execute(['BEGIN', UNBOUND].map((text) => ({ sql: text, args: [] })))
    await needNoServer(execute)
    if (replace) await emptyAll(execute)
    const filled = await firstFilled(execute)
    if (filled) {
      throw new OperatorError(
        `the database of MB_DATABASE_URL is not empty (${filled}); to replace it add --force`,
      )
    }
    const indexes = { vectors: createVectorIndex(NO_READER), words: createWordIndex(NO_READER) }
    const progress = createProgress({ clock, write, steps: stepsOf(source) })
    const { change } = sealing
    const counts = await copyAll({ source, execute, ...indexes, change, progress })
    const uploads = await copyUploads({ source, execute }, openSpool(folder))
    const wrong = await miscounted(execute, counts)
    if (wrong[0])
      throw new Error(`the copy of ${wrong.join(', ')} is not whole; nothing was stored`)
    await execute([{ sql: 'COMMIT', args: [] }])
    await execute([{ sql: 'ANALYZE', args: [] }])
    return { counts, uploads, unreadable: sealing.unreadable() }
  } finally {
    // Without COMMIT the server rolls everything back.
    await connection.close()
    source.close()
  }
}

/** Throws when a server uses the database, because it would keep state of the old rows. */
async function needNoServer(execute: Execute): Promise<void> {
  await execute([STARTS_WAIT])
  if ((await execute([LIVE_SERVERS])).length === 0) return
  throw new OperatorError(
    'a server uses the database of MB_DATABASE_URL; stop it first, or wait half a minute ' +
      'where it was killed',
  )
}

/** A reader for the indexes, which are only written here. */
const NO_READER = { all: () => Promise.reject(new Error('the indexes are not read')) }

function executor(connection: Connection) {
  return async (statements: readonly Statement[]) => {
    if (statements.length === 0) return []
    const worded = statements.map((one) => ({ ...one, sql: textOf(one.sql, one.args) }))
    return (await connection.send(worded, STEP_MS_MAX)).at(-1)?.rows ?? []
  }
}

function report(folder: string, { counts, uploads, unreadable }: Copied): string {
  const rows = [...counts, ['uploads', uploads] as const].filter(([, count]) => count > 0)
  const lines = rows.map(([table, count]) => `    ${table.padEnd(16)} ${count}`)
  const warning =
    unreadable === 0
      ? ''
      : `\n  ${unreadable} sealed values open with no known key; enter them again.\n`
  return `
  Copied from ${folder}:

${lines.join('\n')}
${warning}
  Start the server with these settings, and keep the folder until it runs.

`
}
