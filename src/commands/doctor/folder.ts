import {
  accessSync,
  constants,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { randomHex } from '../../core/crypto.ts'
import { NO_LOG } from '../../core/log.ts'
import { foreignOwner, isOpenToWrites, lstatOrNull } from '../../core/private-files.ts'
import { databasePath, lockPath } from '../../data-folder/data-folder.ts'
import { networkDisk, statOrNull } from '../../data-folder/files.ts'
import { codeOf, explainStorage, FULL, OperatorError } from '../../data-folder/operator-error.ts'
import { parseSecrets, secretsPath } from '../../data-folder/secrets.ts'
import type { SettingTexts } from '../../features/system/service.ts'
import { MIGRATIONS } from '../../storage/migrations/index.ts'
import { takeLock } from '../../storage/sqlite/connection.ts'
import { holdsSealed, inspect, sealedSettings } from '../../storage/sqlite/inspect.ts'
import { readStoredSettings } from '../../wiring/stored-settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const MIB = 1024 * 1024
const FREE_LEAST = 64 * MIB
const FREE_GOOD = 1024 * MIB
const NAME = 'Data folder'

/** Checks that the data folder, or the place where it will be made, can hold data. */
export function checkFolder({ MB_DATA_DIR: dataDir }: Config): Finding[] {
  const there = statOrNull(dataDir)
  const folder = there ? dataDir : firstExisting(dirname(resolve(dataDir)))
  if (!statOrNull(folder)?.isDirectory()) {
    return [fail(NAME, `${folder} is a file`, 'choose another folder with MB_DATA_DIR')]
  }
  const owner = there ? foreignOwner(realpathSync(dataDir)) : null
  if (owner !== null) {
    const mend = 'run Moonbase as that user, or change the owner'
    return [fail(NAME, `${folder} belongs to another user (${owner})`, mend)]
  }
  const refusal = refusalOf(folder)
  if (refusal && FULL.has(codeOf(refusal))) {
    return [fail(NAME, `${folder} is on a full disk`, 'free some disk space')]
  }
  const mend = `give this user the right to write to ${folder}, or set MB_DATA_DIR`
  if (refusal) return [fail(NAME, `${folder} cannot be written`, mend)]
  const open = there ? openPaths(dataDir) : []
  if (open.length > 0) {
    const text = `other users can write to it or read from it: ${open.join(', ')}`
    return [warn(NAME, text, 'start the server, which closes it, and see who wrote there')]
  }
  const free = statfsSync(folder).bavail * statfsSync(folder).bsize
  const space = `${Math.floor(free / MIB)} MiB free`
  if (free < FREE_LEAST) return [fail(NAME, `${folder}: ${space}`, 'free some disk space')]
  if (free < FREE_GOOD) return [warn(NAME, `${folder}: ${space}`, 'free some disk space soon')]
  const network = networkDisk(folder)
  if (network !== null) {
    const place = 'choose a disk of this machine with MB_DATA_DIR'
    return [warn(NAME, `${folder} is on a network share (${network})`, place)]
  }
  return [ok(NAME, there ? `${dataDir}, ${space}` : `${dataDir} will be made, ${space}`)]
}

/** Paths in the data folder that other users may read or write. */
function openPaths(dataDir: string): string[] {
  const database = databasePath(dataDir)
  const files = ['', '-wal', '-shm'].map((suffix) => database + suffix)
  const readable = files.filter((path) => ((lstatOrNull(path)?.mode ?? 0) & 0o077) !== 0)
  return [...(isOpenToWrites(realpathSync(dataDir)) ? [dataDir] : []), ...readable]
}

function firstExisting(path: string): string {
  return statOrNull(path) ? path : firstExisting(dirname(path))
}

/** Why nothing can be written to the folder. Tries it, because permissions alone do not tell. */
function refusalOf(folder: string): unknown {
  const probe = join(folder, `.moonbase-doctor-${randomHex(6)}`)
  try {
    accessSync(folder, constants.W_OK)
    writeFileSync(probe, 'x', { flag: 'wx' })
    return null
  } catch (error) {
    return error
  } finally {
    // On a read-only disk `rm` fails even for a missing file.
    if (lstatOrNull(probe)) rmSync(probe, { force: true })
  }
}

/** Whether a server runs on the folder; null when unknown. */
export function isServed({ MB_DATA_DIR: dataDir }: Config): boolean | null {
  try {
    if (!statOrNull(lockPath(dataDir))) return false
    const lock = takeLock(lockPath(dataDir))
    lock?.release()
    return lock === null
  } catch {
    return null
  }
}

/** Reads the whole database, if there is one. */
export function checkDatabase({ MB_DATA_DIR: dataDir }: Config): Finding {
  const name = 'Database'
  const path = databasePath(dataDir)
  const size = statOrNull(path)?.size
  if (size === undefined) return ok(name, 'none yet; the first start makes it')
  const mend = 'put a backup back: moonbase restore FILE --force'
  try {
    const { damage, unknown, pending, foreign } = inspect(path, MIGRATIONS)
    if (unknown[0]) {
      return fail(name, `written by a newer Moonbase (${unknown[0]})`, 'use that version')
    }
    if (damage[0]) return fail(name, `damaged: ${damage[0]}`, mend)
    if (foreign[0]) return fail(name, `its schema was changed: ${foreign[0]}`, mend)
    const age = pending.length === 0 ? 'up to date' : 'upgraded at the next start, after a copy'
    return ok(name, `sound, ${Math.ceil(size / MIB)} MiB, ${age}`)
  } catch (error) {
    const told = explainStorage(error, dataDir)
    if (!(told instanceof OperatorError)) return fail(name, 'cannot be read', mend)
    // These sentences end with advice after a semicolon.
    const [text = '', todo = mend] = told.message.split('; ', 2)
    return fail(name, text, todo)
  }
}

/** The console's settings; none when they cannot be read without changing anything. */
export function storedSettings(config: Config): SettingTexts {
  try {
    const text = readFileSync(secretsPath(config.MB_DATA_DIR), 'utf8')
    const given = config.MB_ENCRYPTION_KEY
    const key = given === 'off' ? null : (given ?? parseSecrets(text)?.encryption_key ?? null)
    const path = databasePath(config.MB_DATA_DIR)
    return readStoredSettings(sealedSettings(path), key, NO_LOG)
  } catch {
    // Other checks report faults of the folder, the secrets or the database.
    return {}
  }
}

/** Checks that secrets.json is complete and unreadable for other users. */
export function checkSecrets(config: Config): Finding {
  const name = 'Secrets'
  const path = secretsPath(config.MB_DATA_DIR)
  const there = lstatOrNull(path)
  const mend = `restore ${path} from a backup`
  if (!there) {
    return needsSecrets(config)
      ? fail(name, `${path} is missing, and stored model keys need it`, mend)
      : ok(name, 'none yet; the first start makes them')
  }
  if (there.isSymbolicLink()) return fail(name, `${path} is a link`, 'put the file itself there')
  try {
    if (parseSecrets(readFileSync(path, 'utf8')) === null)
      return fail(name, `${path} is damaged`, mend)
  } catch {
    return fail(name, `${path} cannot be read`, 'give this user the right to read it')
  }
  const open = (there.mode & 0o077) !== 0
  return open
    ? warn(name, `${path} can be read by others`, `chmod 600 ${path}`)
    : ok(name, 'there, and private')
}

/** Whether the database holds secrets that were sealed with the key of secrets.json. */
function needsSecrets({ MB_DATA_DIR: dataDir, MB_ENCRYPTION_KEY: key }: Config): boolean {
  const path = databasePath(dataDir)
  try {
    return key === undefined && statOrNull(path) !== null && holdsSealed(path)
  } catch {
    return false
  }
}
