import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { prepareRuntime } from '../native/runtime.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { openSqlite } from '../storage/sqlite/db.ts'
import { migrate } from '../storage/sqlite/migrate.ts'

/** Opens the data folder: native parts in place, database migrated, writer thread running. */
export async function openStorage(config: Config, now: Date, writerUrl: string) {
  const dataDir = config.MB_DATA_DIR
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const runtime = await prepareRuntime(dataDir)
  const file = { path: join(dataDir, 'moonbase.db'), extensions: [runtime.vec0] }
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const report = migrate(file, MIGRATIONS, stamp)
  const db = await openSqlite(file, writerUrl)
  return { db, runtime, file, report }
}
