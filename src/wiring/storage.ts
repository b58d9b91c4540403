import type { Config } from '../config.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { fileStamp } from '../data-folder/files.ts'
import { explainStorage } from '../data-folder/operator-error.ts'
import { prepareRuntime } from '../native/runtime.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { openSqlite } from '../storage/sqlite/db.ts'
import { migrate } from '../storage/sqlite/migrate.ts'

/**
 * Opens the data folder: places the native parts, migrates the database and starts its writer
 * thread, which `opening` waits for. Throws `OperatorError` for what is wrong with the folder.
 */
export async function openStorage(config: Config, now: Date, writerUrl: string) {
  const explain = (error: unknown) => {
    throw explainStorage(error, config.MB_DATA_DIR)
  }
  const { opening, ...storage } = await open(config.MB_DATA_DIR, now, writerUrl).catch(explain)
  const explained = opening.catch(explain)
  // Mark it as handled: it may fail before it is awaited.
  explained.catch(() => {})
  return { ...storage, opening: explained }
}

async function open(dataDir: string, now: Date, writerUrl: string) {
  secureDataDir(dataDir)
  const runtime = await prepareRuntime(dataDir)
  const file = { path: databasePath(dataDir), extensions: [runtime.vec0] }
  const upgradeCopy = migrate(file, MIGRATIONS, fileStamp(now))
  return { opening: openSqlite(file, writerUrl), runtime, file, upgradeCopy }
}
