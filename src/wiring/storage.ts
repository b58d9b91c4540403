import { type Config, ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { fileStamp } from '../data-folder/files.ts'
import { homeOf } from '../data-folder/home.ts'
import { explainStorage } from '../data-folder/operator-error.ts'
import { type NativeRuntime, prepareRuntime } from '../native/runtime.ts'
import { createLocalState } from '../storage/local-state.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { openSqlite, type SqliteDb } from '../storage/sqlite/db.ts'
import { holdsSealed, sealedSettings } from '../storage/sqlite/inspect.ts'
import { migrate } from '../storage/sqlite/migrate.ts'
import { createReadThread } from '../storage/sqlite/read-thread.ts'
import { createTurnIndex } from '../storage/sqlite/turn-words.ts'
import { createVectorIndex } from '../storage/sqlite/vectors.ts'
import { createWordIndex } from '../storage/sqlite/words.ts'
import type { OpenedStorage, SealedSetting } from './opened-storage.ts'

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

export interface StorageNeeds {
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
export async function openStorage(config: Config, needs: StorageNeeds): Promise<Storage> {
  const explain = (error: unknown) => {
    throw explainStorage(error, config.MB_DATA_DIR)
  }
  const url = config.MB_DATABASE_URL
  const opened = url === undefined ? openFile(config, needs) : openServer(config, url, needs)
  const { runtime, upgradeCopy, holdsSealed, sealedSettings, opening } = await opened.catch(explain)
  const explained = opening.catch(explain)
  // Mark it as handled: it may fail before it is awaited.
  explained.catch(() => {})
  return { runtime, upgradeCopy, holdsSealed, sealedSettings, opening: explained }
}

async function openFile({ MB_DATA_DIR: folder }: Config, needs: StorageNeeds): Promise<Storage> {
  secureDataDir(folder)
  const runtime = await prepareRuntime(folder)
  const file = { path: databasePath(folder), extensions: [runtime.vec0] }
  const { clock, program } = needs
  const { writerUrl, readerUrl } = program
  const upgradeCopy = migrate(file, MIGRATIONS, fileStamp(new Date(clock.now())))
  const withReader = (db: SqliteDb): OpenedStorage => {
    const onError = db.failed
    const reader = createReadThread(file, readerUrl, { onError })
    const [vectors, words] = [createVectorIndex(reader), createWordIndex(reader)]
    const scans = createReadThread(file, readerUrl, { onError, isUrgent: false })
    const turnIndex = createTurnIndex(scans)
    const openShared = async () => createLocalState(clock)
    return { db, reader, scans, vectors, words, turnIndex, openShared }
  }
  return {
    runtime,
    upgradeCopy,
    holdsSealed: () => holdsSealed(file.path),
    sealedSettings: async () => sealedSettings(file.path),
    opening: openSqlite(file, writerUrl).then(withReader),
  }
}

async function openServer(config: Config, url: string, needs: StorageNeeds): Promise<Storage> {
  const { clock, log, meters = NO_METERS } = needs
  secureDataDir(config.MB_DATA_DIR)
  // Imported here, so that servers without PostgreSQL do not load the driver.
  const { openPostgresStorage, UnusableDatabase } = await import('./postgres.ts')
  const runtime = await prepareRuntime(config.MB_DATA_DIR)
  try {
    const { opened, sealedSettings } = await openPostgresStorage({
      clock,
      log,
      url,
      directUrl: config.MB_DATABASE_DIRECT_URL ?? null,
      home: () => homeOf(config.MB_DATA_DIR),
      docsMax: config.MB_KB_MAX_DOCS,
      onAsked: meters.databaseAsked,
    })
    return {
      runtime,
      upgradeCopy: null,
      holdsSealed: () => false,
      sealedSettings,
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
