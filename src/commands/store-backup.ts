import { createReadStream, statfsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { encryptArchive } from '../channels/backup/archive.ts'
import {
  type BackupStore,
  BackupStoreError,
  backupName,
  isOfBox,
} from '../channels/ports/backup-store.ts'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { lowerProcessPriority } from '../core/priority.ts'
import { databaseStamp, readBackupState, writeBackupState } from '../data-folder/backup-state.ts'
import { backupLockPath, databasePath } from '../data-folder/data-folder.ts'
import { statOrNull } from '../data-folder/files.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import { takeLock } from '../storage/sqlite/lock.ts'
import { backupPlace, boxOf, openBackupStore } from '../wiring/backups.ts'
import type { Invocation } from './arguments.ts'
import { writeSnapshot } from './snapshot.ts'

/** What the server learns of a backup that it ordered. */
export interface StoredReport {
  readonly name: string
  readonly place: string
  /** When it was taken, in epoch milliseconds. */
  readonly at: number
  /** Nothing was written since, so no other one was made. */
  readonly unchanged: boolean
}

/** Left free on the disk of the data folder, for a full one would stop the server's writes. */
const SPARE_BYTES = 64 * 1024 * 1024

/**
 * Puts a backup where MB_BACKUP_S3 or MB_BACKUP_DIR says: a copy of the database at one moment,
 * compressed, encrypted, stored whole or not at all; then removes the oldest ones of this box.
 * Throws `OperatorError`.
 */
export async function storeBackup(config: Config, invocation: Invocation): Promise<StoredReport> {
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
    if (last && kept && last.stamp === stamp) return { ...report(last), unchanged: true }
    checkSpace(dataDir)
    const clock = systemClock()
    const made = { name: backupName(clock.iso(), box), place: store.place, at: clock.now(), stamp }
    await writeSnapshot(config, invocation.version, resolve(dataDir), (path) =>
      store.write(made.name, () => encryptArchive(compressed(path), passphrase)),
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

const report = ({ name, place, at }: Omit<StoredReport, 'unchanged'>) => ({ name, place, at })

async function removeOldest(store: BackupStore, names: readonly string[], keep: number) {
  for (const name of names.slice(keep)) await store.remove(name)
}

async function* compressed(path: string): AsyncGenerator<Uint8Array> {
  const zstd = createZstdCompress()
  const written = pipeline(createReadStream(path), zstd)
  // An error ends the loop below first; this one is the same.
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
