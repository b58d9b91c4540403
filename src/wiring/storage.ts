import { type Config, ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { fileStamp } from '../data-folder/files.ts'
import { explainStorage } from '../data-folder/operator-error.ts'
import { type NativeRuntime, prepareRuntime } from '../native/runtime.ts'
import type { Reader, StoredDb } from '../storage/db.ts'
import type { TurnIndex, VectorIndex, WordIndex } from '../storage/indexes.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { createOwnState } from '../storage/own-state.ts'
import type { SharedState } from '../storage/shared-state.ts'
import { openSqlite, type SqliteDb } from '../storage/sqlite/db.ts'
import { holdsSealed, sealedSettings } from '../storage/sqlite/inspect.ts'
import { migrate } from '../storage/sqlite/migrate.ts'
import { createReadThread } from '../storage/sqlite/read-thread.ts'
import { createTurnIndex } from '../storage/sqlite/turn-words.ts'
import { createVectorIndex } from '../storage/sqlite/vectors.ts'
import { createWordIndex } from '../storage/sqlite/words.ts'

/** An encrypted value that the console has set for the whole server. */
export interface SealedSetting {
  readonly name: string
  readonly value_sealed: Uint8Array
}

/** The database and its search indexes. */
export interface OpenedStorage {
  readonly db: StoredDb
  /** Runs what a turn waits for: the search of the knowledge base. */
  readonly reader: Reader & { close(): Promise<void> }
  /** Runs lists, sums and searches that people ask for, so that no turn waits behind them. */
  readonly scans: Reader & { close(): Promise<void> }
  readonly vectors: VectorIndex
  readonly words: WordIndex
  readonly turnIndex: TurnIndex
  /** The state that all servers of the database share. Closed by the caller, before `db`. */
  openShared(log: Logger): Promise<SharedState>
  /** The number of the next document, where several processes store documents. */
  readonly nextNum?: () => Promise<number>
}

export interface Storage {
  readonly runtime: NativeRuntime
  /** The copy that was made before an upgrade of the database; null when it was not upgraded. */
  readonly upgradeCopy: string | null
  /** Whether it holds secrets that only the server's encryption key opens. */
  holdsSealed(): boolean
  sealedSettings(): Promise<readonly SealedSetting[]>
  /** Resolves once the database accepts writes. */
  readonly opening: Promise<OpenedStorage>
}

export interface StorageParts {
  readonly clock: Clock
  /** Gets messages about work in the background. */
  readonly log?: Logger
  readonly meters?: Meters
  /** Addresses of the threads of SQLite. */
  readonly program: { readonly writerUrl: string; readonly readerUrl: string }
}

/**
 * Opens the data folder, places the native parts, and migrates and opens the database: the one of
 * MB_DATABASE_URL, else a file of the folder. No other place tells the two apart. Throws
 * `OperatorError` or `ConfigError` for faults that the operator can fix.
 */
export async function openStorage(config: Config, parts: StorageParts): Promise<Storage> {
  const explain = (error: unknown) => {
    throw explainStorage(error, config.MB_DATA_DIR)
  }
  const url = config.MB_DATABASE_URL
  const opened = url === undefined ? openFile(config, parts) : openServer(config, url, parts)
  const { opening, ...storage } = await opened.catch(explain)
  const explained = opening.catch(explain)
  // Mark it as handled: it may fail before it is awaited.
  explained.catch(() => {})
  return { ...storage, opening: explained }
}

async function openFile({ MB_DATA_DIR: folder }: Config, parts: StorageParts): Promise<Storage> {
  secureDataDir(folder)
  const runtime = await prepareRuntime(folder)
  const file = { path: databasePath(folder), extensions: [runtime.vec0] }
  const upgradeCopy = migrate(file, MIGRATIONS, fileStamp(new Date(parts.clock.now())))
  const { writerUrl, readerUrl } = parts.program
  const withReader = (db: SqliteDb): OpenedStorage => {
    const reader = createReadThread(file, readerUrl, db.failed)
    const [vectors, words] = [createVectorIndex(reader), createWordIndex(reader)]
    const scans = createReadThread(file, readerUrl, db.failed)
    const turnIndex = createTurnIndex(scans)
    const openShared = async () => createOwnState(parts.clock)
    return { db, reader, scans, vectors, words, turnIndex, openShared }
  }
  return {
    ...{ runtime, upgradeCopy },
    holdsSealed: () => holdsSealed(file.path),
    sealedSettings: async () => sealedSettings(file.path),
    opening: openSqlite(file, writerUrl).then(withReader),
  }
}

async function openServer(config: Config, url: string, parts: StorageParts): Promise<Storage> {
  const { clock, log, meters = NO_METERS } = parts
  secureDataDir(config.MB_DATA_DIR)
  // Imported here, so that servers without PostgreSQL do not load the driver.
  const { openPostgresStorage, UnusableDatabase } = await import('./postgres.ts')
  const runtime = await prepareRuntime(config.MB_DATA_DIR)
  try {
    const { sealedSettings: read, ...opened } = await openPostgresStorage({
      ...{ clock, log, url, docsMax: config.MB_KB_MAX_DOCS, onAsked: meters.databaseAsked },
      directUrl: config.MB_DATABASE_DIRECT_URL ?? null,
    })
    return {
      ...{ runtime, upgradeCopy: null },
      holdsSealed: () => false,
      sealedSettings: read,
      opening: Promise.resolve(opened),
    }
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error
    throw new ConfigError(`MB_DATABASE_URL ${shown(url)} ${error.message}`, 'MB_DATABASE_URL')
  }
}

/** The address without its password and options. */
function shown(url: string): string {
  const address = new URL(url)
  address.password = ''
  address.search = ''
  return address.href
}
