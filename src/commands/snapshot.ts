import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { HOUR_MS, systemClock } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { explainStorage, onDataDir } from '../data-folder/operator-error.ts'
import { readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import { prepareRuntime } from '../native/runtime.ts'
import { writeBackup } from '../storage/sqlite/backup.ts'

const DRAFT = '.moonbase-backup-'
const STALE = /^\.moonbase-backup-[0-9a-f]{12}\.tmp(-journal)?$/

/**
 * Writes the data folder as it is at this moment to a draft in `folder`, which `use` may rename;
 * what is left of it is removed.
 */
export async function writeSnapshot(
  { MB_DATA_DIR: dataDir }: Config,
  version: string,
  folder: string,
  use: (draft: string) => unknown,
): Promise<void> {
  onDataDir(dataDir, () => secureDataDir(dataDir))
  const runtime = await prepareRuntime(dataDir).catch((error: unknown) => {
    throw explainStorage(error, dataDir)
  })
  removeStaleDrafts(folder)
  const draft = join(folder, `${DRAFT}${randomHex(6)}.tmp`)
  try {
    // It will hold secrets, so it is made with its mode before anything is written to it.
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
    const source = { path: databasePath(dataDir), extensions: [runtime.vec0] }
    const secrets = readSecretsText(secretsPath(dataDir))
    writeBackup(source, draft, { version, createdAt: systemClock().iso(), secrets })
    chmodSync(draft, 0o600)
    syncToDisk(draft)
    await use(draft)
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

/** Drafts of killed backups: one that is still being written changes all the time. */
function removeStaleDrafts(folder: string): void {
  const before = systemClock().now() - HOUR_MS
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const stale = STALE.test(name) && (statOrNull(path)?.mtimeMs ?? before) < before
    if (stale) rmSync(path, { force: true })
  }
}

/** The names in the folder; none when this user may write to it but not read it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
