import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { closeFile, closeFolder, isOpenToWrites, lstatOrNull } from '../core/private-files.ts'
import { type FolderLock, takeLock } from '../storage/sqlite/connection.ts'
import { hasTenants } from '../storage/sqlite/inspect.ts'
import { networkDisk } from './files.ts'
import { OperatorError, onDataDir } from './operator-error.ts'
import { secretsPath } from './secrets.ts'

export const databasePath = (dataDir: string) => join(dataDir, 'moonbase.db')
export const lockPath = (dataDir: string) => join(dataDir, 'moonbase.lock')
/** Held while a backup is stored. */
export const backupLockPath = (dataDir: string) => join(dataDir, 'backup.lock')

/** Drafts that a restore writes first; a killed restore leaves them behind. */
export const restoreDrafts = (dataDir: string) => ({
  database: `${databasePath(dataDir)}.restoring`,
  journal: `${databasePath(dataDir)}.restoring-journal`,
  secrets: `${secretsPath(dataDir)}.restoring`,
  fetched: `${databasePath(dataDir)}.fetched`,
})

export interface FolderState {
  /** Whether other users could write to it before. */
  readonly mended: boolean
  /** Whether other users still can write to it, because its file system has no permissions. */
  readonly open: boolean
}

/**
 * Makes the data folder, or removes other users' permissions from it and the server's files in it.
 * MB_DATA_DIR itself may be a link; a link inside is refused, because the server would write to its
 * target or change its permissions. Call it before anything in the folder is opened.
 */
export function secureDataDir(dataDir: string): FolderState {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const folder = realpathSync(dataDir)
  const mended = closeFolder(folder)
  const database = databasePath(folder)
  const files = [
    secretsPath(folder),
    lockPath(folder),
    ...['', '-wal', '-shm', '-journal'].map((suffix) => database + suffix),
  ]
  for (const path of files) closeFile(path)
  closeFolder(join(folder, 'backups'))
  closeFolder(join(folder, 'spool'))
  const open = isOpenToWrites(folder)
  return { mended: mended && !open, open }
}

/**
 * To be called before a command uses the data folder. The function that it returns removes what a
 * refused command has made in a folder that was absent or empty. A database stays that somebody
 * has made a key in meanwhile.
 */
export function watchEmptyFolder(dataDir: string): () => void {
  const wasThere = lstatOrNull(dataDir) !== null
  const wasEmpty = isEmpty(dataDir)
  return () => {
    const database = databasePath(dataDir)
    if (!wasEmpty || (lstatOrNull(database) && hasTenants(database))) return
    const made = [
      ...['', '-wal', '-shm', '-journal'].map((suffix) => database + suffix),
      ...[secretsPath(dataDir), ...Object.values(restoreDrafts(dataDir))],
      ...['runtime', 'spool'].map((name) => join(dataDir, name)),
      lockPath(dataDir),
    ]
    for (const path of made) rmSync(path, { recursive: true, force: true })
    if (!wasThere && isEmpty(dataDir)) rmSync(dataDir, { recursive: true, force: true })
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return lstatOrNull(folder) === null
  }
}

/**
 * Makes the data folder and locks it for this process: two servers on one folder would order the
 * turns of a session differently. Throws `OperatorError`.
 */
export function holdDataDir(dataDir: string): FolderLock {
  const lock = onDataDir(dataDir, () => {
    secureDataDir(dataDir)
    const taken = takeLock(lockPath(dataDir))
    const drafts = taken ? Object.values(restoreDrafts(dataDir)) : []
    for (const path of drafts) if (lstatOrNull(path)) rmSync(path, { force: true })
    return taken
  })
  if (lock) return lock
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
