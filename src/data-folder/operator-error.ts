import { accessSync, constants, statfsSync } from 'node:fs'
import { type Config, ConfigError } from '../config.ts'
import { DatabaseAway } from '../core/errors.ts'
import { UnsafePathError } from '../core/private-files.ts'
import { StatementError } from '../storage/postgres/faults.ts'
import { UnusableFileError } from '../storage/sqlite/migrate.ts'
import { networkDisk } from './files.ts'

/** An error that the operator can fix: printed as one sentence, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

const READ_ONLY = new Set(['EACCES', 'EPERM', 'EROFS', 'SQLITE_READONLY', 'SQLITE_PERM'])
/** Codes of a full disk or an exhausted quota. */
export const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL'])
/** SQLite enlarges the shared memory of the log in steps of this size. */
const FREE_BYTES_MIN = 64 * 1024
const NO_FOLDER = new Set(['ENOTDIR', 'EEXIST', 'ENOENT', 'ELOOP', 'ENAMETOOLONG'])
const DAMAGED = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB'])

/** The code of an error of Node or SQLite, such as `EACCES`; empty when it has none. */
export const codeOf = (error: unknown): string =>
  String((error as { code?: unknown } | null)?.code ?? '')

/** An error of the database server as a sentence; any other error unchanged. */
export function explainDatabase(error: unknown): unknown {
  const say = (text: string) => new OperatorError(`the database of MB_DATABASE_URL ${text}`)
  if (error instanceof DatabaseAway) return say(`does not answer: ${error.message}`)
  if (error instanceof StatementError) return say(`answers with an error: ${error.message}`)
  return error
}

/** An error of the data folder as a sentence with what to do; any other error unchanged. */
export function explainStorage(error: unknown, dataDir: string): unknown {
  if (error instanceof ConfigError || error instanceof OperatorError) return error
  if (error instanceof UnusableFileError || error instanceof UnsafePathError) {
    return new OperatorError(error.message)
  }
  const ofServer = explainDatabase(error)
  if (ofServer !== error) return ofServer
  const code = codeOf(error)
  const family = code.startsWith('SQLITE_') ? code.split('_').slice(0, 2).join('_') : code
  const say = (text: string) => new OperatorError(`MB_DATA_DIR ${dataDir} ${text}`)
  const locked = family === 'SQLITE_CANTOPEN' && !mayWrite(dataDir)
  if (locked || READ_ONLY.has(family))
    return say('cannot be written; give this user the right to write there')
  if (FULL.has(family) || (family === 'SQLITE_IOERR' && isFull(dataDir)))
    return say('is on a full disk; free some space, nothing stored is lost')
  if (NO_FOLDER.has(family)) return say('is no folder that can be made or used; choose another')
  if (family === 'SQLITE_CANTOPEN')
    return say('holds a database that this user cannot open; give it the right to')
  if (family === 'SQLITE_BUSY')
    return say('is in use by another program; try again when it is done')
  const network = networkDisk(dataDir)
  if (family === 'SQLITE_IOERR' && network !== null)
    return say(`is on a network share (${network}); choose a disk of this machine`)
  if (family === 'SQLITE_IOERR')
    return say('is on a disk that fails to read or write; look at the log of the system')
  if (DAMAGED.has(family)) {
    return say('holds a damaged database; put a backup back: moonbase restore FILE --force')
  }
  return error
}

/** Checks the free space, because SQLite reports other errors, too, on a full disk. */
function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < FREE_BYTES_MIN
}

/** Checks the folder, because SQLite has the same code for every file that it cannot open. */
function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Throws `OperatorError`, with what to do `instead`, when the data is in PostgreSQL. */
export function needsFile({ MB_DATABASE_URL }: Config, instead: string): void {
  if (MB_DATABASE_URL === undefined) return
  throw new OperatorError(`the data lies in the database of MB_DATABASE_URL; ${instead}`)
}

/** Runs `work` and explains its errors as those of the data folder. */
export function onDataDir<Result>(dataDir: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw explainStorage(error, dataDir)
  }
}
