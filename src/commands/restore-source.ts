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
import { type BackupStore, BackupStoreError, isBackupName } from '../channels/ports/backup-store.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import { openBackupStore } from '../wiring/backups.ts'
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

/**
 * Finds the backup that the operator names: a plain one stays where it is; an encrypted one, from a
 * file, a folder or `s3://`, is decrypted to `draft`. A folder, or a place in a bucket, stands for
 * the newest backup in it that can be read. Throws `OperatorError`.
 */
export async function findBackup(
  named: string,
  env: Invocation['env'],
  draft: string,
): Promise<RestoreSource> {
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
    return { path: draft, name: path, skipped: [] }
  }
  const one = isBackupName(basename(named)) ? basename(named) : null
  const place = isBucket ? (one ? dirname(named).replace(/^s3:\/+/, 's3://') : named) : path
  try {
    const store = await openBackupStore(place, env, '')
    return await firstReadable(store, one, draft, write)
  } catch (error) {
    throw error instanceof BackupStoreError ? new OperatorError(error.message) : error
  }
}

async function firstReadable(
  store: BackupStore,
  one: string | null,
  draft: string,
  write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<RestoreSource> {
  const names = one === null ? (await store.list()).map(({ name }) => name) : [one]
  if (names.length === 0) throw new OperatorError(`${store.place} holds no backup`)
  const skipped: OperatorError[] = []
  for (const name of names) {
    try {
      await write(store.read(name))
      const told = skipped.map(({ message }) => message)
      return { path: draft, name: `${name} of ${store.place}`, skipped: told }
    } catch (error) {
      const told = explained(error, name)
      if (!(told instanceof OperatorError) || isNewer(error)) throw told
      skipped.push(told)
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
