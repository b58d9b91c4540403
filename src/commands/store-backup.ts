import {
  chmodSync,
  createReadStream,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { encryptArchive } from '../channels/backup/archive.ts'
import type { Config } from '../config.ts'
import { HOUR_MS, systemClock } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import { lowerProcessPriority } from '../core/time-slice.ts'
import { databaseStamp, readBackupState, writeBackupState } from '../data-folder/backup-state.ts'
import { backupLockPath, databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { OperatorError, onDataDir } from '../data-folder/operator-error.ts'
import { readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import { writeBackup } from '../storage/sqlite/backup.ts'
import { takeLock } from '../storage/sqlite/connection.ts'
import {
  type BackupStore,
  BackupStoreError,
  backupName,
  isOfBox,
} from '../upstream/ports/backup-store.ts'
import { backupPlace, boxOf, openBackupStore } from '../wiring/backup-place.ts'
import type { Invocation } from './arguments.ts'

/** The report to the server about a backup that it has started. */
export interface StoredReport {
  readonly name: string
  readonly place: string
  /** When it was taken, in epoch milliseconds. */
  readonly at: number
  /** Whether nothing was written since the last backup, so that no new one was made. */
  readonly unchanged: boolean
}

/**
 * Space to leave free on the disk of the data folder: a full disk would stop the server's writes.
 */
const SPARE_BYTES = 64 * 1024 * 1024

/**
 * Stores a backup in MB_BACKUP_S3 or MB_BACKUP_DIR: a snapshot of the database, compressed and
 * encrypted, stored whole or not at all. Then removes the oldest ones of this box. Throws
 * `OperatorError`.
 */
export async function storeBackup(
  config: Config,
  invocation: Invocation,
  { anew = false } = {},
): Promise<StoredReport> {
  const { MB_DATA_DIR: dataDir, MB_BACKUP_PASSPHRASE: passphrase } = config
  const place = backupPlace(config)
  if (place === null || passphrase === undefined) {
    throw new OperatorError('set MB_BACKUP_S3 or MB_BACKUP_DIR, and MB_BACKUP_PASSPHRASE')
  }
  lowerProcessPriority()
  const lock = takeLock(backupLockPath(dataDir))
  if (!lock) throw new OperatorError('another backup of this data folder is being made')
  try {
    const box = boxOf(config)
    const store = await openBackupStore(place, invocation.env, box)
    const stamp = databaseStamp(dataDir)
    const last = readBackupState(dataDir)
    const there = (await store.list()).filter(({ name }) => isOfBox(name, box))
    const kept = there.some(({ name }) => name === last?.name) && last?.place === store.place
    if (last && kept && last.stamp === stamp && !anew) return { ...report(last), unchanged: true }
    checkSpace(dataDir)
    const clock = systemClock()
    const named = { name: backupName(clock.iso(), box), place: store.place }
    const made = { ...named, at: clock.now(), stamp, bytes: 0 }
    await writeSnapshot(config, invocation.version, resolve(dataDir), (path) =>
      store.write(made.name, () => {
        made.bytes = 0
        return counted(encryptArchive(compressed(path), passphrase), (bytes) => {
          made.bytes += bytes
        })
      }),
    )
    writeBackupState(dataDir, made)
    await removeOldest(store, [made.name, ...there.map(({ name }) => name)], config.MB_BACKUP_KEEP)
    return { ...report(made), unchanged: false }
  } catch (error) {
    throw error instanceof BackupStoreError ? new OperatorError(error.message) : error
  } finally {
    lock.release()
  }
}

/** Writes a fresh backup, encrypted, to `write`, which resolves when it takes more. */
export async function streamBackup(
  config: Config,
  version: string,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const { MB_DATA_DIR: dataDir, MB_BACKUP_PASSPHRASE: passphrase } = config
  if (passphrase === undefined) throw new OperatorError('set MB_BACKUP_PASSPHRASE')
  lowerProcessPriority()
  const lock = takeLock(backupLockPath(dataDir))
  if (!lock) throw new OperatorError('another backup of this data folder is being made')
  try {
    checkSpace(dataDir)
    await writeSnapshot(config, version, resolve(dataDir), async (path) => {
      for await (const piece of encryptArchive(compressed(path), passphrase)) await write(piece)
    })
  } finally {
    lock.release()
  }
}

async function* counted(pieces: AsyncIterable<Uint8Array>, add: (bytes: number) => void) {
  for await (const piece of pieces) {
    add(piece.length)
    yield piece
  }
}

const report = ({ name, place, at }: Omit<StoredReport, 'unchanged'>) => ({ name, place, at })

async function removeOldest(store: BackupStore, names: readonly string[], keep: number) {
  for (const name of names.slice(keep)) await store.remove(name)
}

async function* compressed(path: string): AsyncGenerator<Uint8Array> {
  const zstd = createZstdCompress()
  const written = pipeline(createReadStream(path), zstd)
  // Marked as handled: the same error ends the loop below first.
  written.catch(() => {})
  yield* zstd
  await written
}

function checkSpace(dataDir: string): void {
  const needed = (statOrNull(databasePath(dataDir))?.size ?? 0) + SPARE_BYTES
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize >= needed) return
  const mib = Math.ceil(needed / 1024 / 1024)
  throw new OperatorError(
    `a backup needs ${mib} MiB free on the disk of MB_DATA_DIR ${dataDir}; free some disk space`,
  )
}

const DRAFT = '.moonbase-backup-'
const STALE = /^\.moonbase-backup-[0-9a-f]{12}\.tmp(-journal)?$/

/**
 * Writes a snapshot of the data folder to a draft in `folder`, which `use` may rename; otherwise
 * the draft is removed.
 */
export async function writeSnapshot(
  { MB_DATA_DIR: dataDir }: Config,
  version: string,
  folder: string,
  use: (draft: string) => unknown,
): Promise<void> {
  onDataDir(dataDir, () => secureDataDir(dataDir))
  removeStaleDrafts(folder)
  const draft = join(folder, `${DRAFT}${randomHex(6)}.tmp`)
  try {
    // The draft will contain secrets, so it gets its mode before anything is written to it.
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
    const secrets = readSecretsText(secretsPath(dataDir))
    writeBackup(databasePath(dataDir), draft, { version, createdAt: systemClock().iso(), secrets })
    chmodSync(draft, 0o600)
    syncToDisk(draft)
    await use(draft)
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

/** Removes drafts of killed backups: those that have not changed for a while. */
function removeStaleDrafts(folder: string): void {
  const before = systemClock().now() - HOUR_MS
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const stale = STALE.test(name) && (statOrNull(path)?.mtimeMs ?? before) < before
    if (stale) rmSync(path, { force: true })
  }
}

/** The names in the folder; empty when this user may write to it but not read it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
