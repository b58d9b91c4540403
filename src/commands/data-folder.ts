import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type FolderLock, takeLock } from '../storage/sqlite/lock.ts'
import { secretsPath } from '../wiring/secrets.ts'
import { networkDisk } from './network-disk.ts'
import { OperatorError, onDataDir } from './operator-error.ts'

export const databasePath = (dataDir: string) => join(dataDir, 'moonbase.db')
export const lockPath = (dataDir: string) => join(dataDir, 'moonbase.lock')

/** What a restore writes before it puts things in place; only one that was killed leaves it. */
export const restoreDrafts = (dataDir: string) => ({
  database: `${databasePath(dataDir)}.restoring`,
  journal: `${databasePath(dataDir)}.restoring-journal`,
  secrets: `${secretsPath(dataDir)}.restoring`,
})

/**
 * Makes the data folder and takes it for this process alone: two servers on one folder would give
 * one session two orders of turns. Throws `OperatorError`.
 */
export function holdDataDir(dataDir: string): FolderLock {
  const lock = onDataDir(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return takeLock(lockPath(dataDir))
  })
  if (lock) {
    for (const path of Object.values(restoreDrafts(dataDir))) rmSync(path, { force: true })
    return lock
  }
  const network = networkDisk(dataDir)
  if (network !== null) {
    throw new OperatorError(
      `MB_DATA_DIR ${dataDir} cannot be locked: another server runs on it, or the share ` +
        `(${network}) has no locks; choose a disk of this machine`,
    )
  }
  throw new OperatorError(
    `another Moonbase server runs on MB_DATA_DIR ${dataDir}; stop it or choose another folder`,
  )
}
