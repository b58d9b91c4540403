import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import {
  ArchiveError,
  type ArchiveFault,
  decryptArchive,
  isArchive,
} from '../channels/backup/archive.ts'
import { HOUR_MS } from '../core/clock.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import { type BackupParts, readBackup } from '../storage/sqlite/backup.ts'
import {
  type BackupStore,
  BackupStoreError,
  boxIn,
  isBackupName,
  timeIn,
} from '../upstream/ports/backup-store.ts'
import { boxOfSecrets, openBackupStore } from '../wiring/backup-place.ts'
import type { Invocation } from './arguments.ts'

/** The backup to restore. */
export interface RestoreSource {
  /** The plain backup on this disk. */
  readonly path: string
  /** Its name for people. */
  readonly name: string
  /** Newer backups that cannot be read, with the reason. */
  readonly skipped: readonly string[]
}

const FAULTS: Readonly<Record<ArchiveFault, string>> = {
  foreign: 'is no backup of Moonbase',
  newer: 'was written by a newer Moonbase; restore it with that version',
  passphrase: 'does not open with MB_BACKUP_PASSPHRASE: it has another one, or is damaged',
  damaged: 'is damaged; take another one',
}

export interface Wanted {
  /** A file, a folder, or a place in a bucket. */
  readonly named: string
  /** Takes backups of this box only; null for any, where the place has those of one. */
  readonly box: string | null
  /** The box of the data folder, whose backups are taken first; null when it has none. */
  readonly own: string | null
}

/**
 * Finds the backup that the operator names: a plain one stays where it is; an encrypted one, from a
 * file, a folder or `s3://`, is decrypted to `draft`. A folder, or a place in a bucket, stands for
 * the newest backup in it that can be read. Throws `OperatorError`.
 */
export async function findBackup(
  wanted: Wanted,
  env: Invocation['env'],
  draft: string,
): Promise<RestoreSource> {
  const { named } = wanted
  const path = resolve(named)
  const isBucket = named.startsWith('s3://')
  const there = isBucket ? null : statOrNull(path)
  if (!isBucket && !there) throw new OperatorError(`${path} is no file`)
  if (there?.isFile() && !(await isEncrypted(path))) return { path, name: path, skipped: [] }
  const passphrase = env.MB_BACKUP_PASSPHRASE?.trim()
  if (!passphrase) {
    throw new OperatorError(`set MB_BACKUP_PASSPHRASE to the passphrase of ${named}`)
  }
  const write = (pieces: AsyncIterable<Uint8Array>) => decryptTo(draft, pieces, passphrase)
  if (there?.isFile()) {
    await write(createReadStream(path)).catch((error: unknown) => {
      throw explained(error, path)
    })
    checkName(basename(path), draft)
    return { path: draft, name: path, skipped: [] }
  }
  const one = isBackupName(basename(named)) ? basename(named) : null
  const place = isBucket ? (one ? dirname(named).replace(/^s3:\/+/, 's3://') : named) : path
  try {
    const store = await openBackupStore(place, env, '')
    const names = one === null ? await namesOf(store, wanted) : [one]
    return await firstReadable(store, names, draft, write)
  } catch (error) {
    throw error instanceof BackupStoreError ? new OperatorError(error.message) : error
  }
}

/** The backups to try, newest first: all of one box, for each has people and keys of its own. */
async function namesOf(store: BackupStore, { box, own }: Wanted): Promise<string[]> {
  const names = (await store.list()).map(({ name }) => name)
  if (names.length === 0) throw new OperatorError(`${store.place} holds no backup`)
  const boxes = Map.groupBy(names, boxIn)
  if (box !== null) {
    const chosen = boxes.get(box)
    if (chosen) return chosen
    throw new OperatorError(`${store.place} holds no backup of box ${box}, but of ${told(boxes)}`)
  }
  if (boxes.size === 1) return names
  const ofFolder = own === null ? undefined : boxes.get(own)
  if (ofFolder) return ofFolder
  throw new OperatorError(
    `${store.place} holds backups of several boxes: ${told(boxes)}; choose one with --box`,
  )
}

const told = (boxes: ReadonlyMap<string, readonly string[]>): string =>
  [...boxes]
    .map(([box, [newest = '']]) => `${box} (${new Date(timeIn(newest)).toISOString()})`)
    .join(', ')

/** A name is made just before its backup. */
const APART_MS_MAX = HOUR_MS

/**
 * Throws when the backup at `path` is not the one of that name: whoever can write to the place can
 * give an old one a new name, or one box's that of another. Any other name says nothing.
 */
function checkName(name: string, path: string): void {
  const parts = isBackupName(name) ? partsOf(path) : null
  if (!parts) return
  if (Math.abs(Date.parse(parts.createdAt) - timeIn(name)) > APART_MS_MAX) {
    throw new OperatorError(`${name} was renamed: it was made at ${parts.createdAt}`)
  }
  if (parts.secrets !== null && boxOfSecrets(parts.secrets) !== boxIn(name)) {
    throw new OperatorError(`${name} was renamed: it is of box ${boxOfSecrets(parts.secrets)}`)
  }
}

/** Null for what is no backup, which is said elsewhere. */
function partsOf(path: string): BackupParts | null {
  try {
    return readBackup(path)
  } catch {
    return null
  }
}

async function firstReadable(
  store: BackupStore,
  names: readonly string[],
  draft: string,
  write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<RestoreSource> {
  const skipped: OperatorError[] = []
  for (const name of names) {
    try {
      await write(store.read(name))
      checkName(name, draft)
      const reasons = skipped.map(({ message }) => message)
      return { path: draft, name: `${name} of ${store.place}`, skipped: reasons }
    } catch (error) {
      const reason = explained(error, name)
      if (!(reason instanceof OperatorError) || isNewer(error)) throw reason
      skipped.push(reason)
    }
  }
  throw skipped[0]
}

/** Restoring an older backup instead of one that only a newer program reads would lose data. */
const isNewer = (error: unknown) => error instanceof ArchiveError && error.fault === 'newer'

const explained = (error: unknown, name: string): unknown =>
  error instanceof ArchiveError ? new OperatorError(`${name} ${FAULTS[error.fault]}`) : error

async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const start = Buffer.alloc(16)
    const { bytesRead } = await file.read(start, 0, start.length, 0)
    return isArchive(start.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

async function decryptTo(path: string, sealed: AsyncIterable<Uint8Array>, passphrase: string) {
  const zstd = createZstdDecompress()
  const file = createWriteStream(path, { flags: 'w', mode: 0o600 })
  await pipeline(decryptArchive(sealed, passphrase), zstd, file)
  syncToDisk(path)
}
