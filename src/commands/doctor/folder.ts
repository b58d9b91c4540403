import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { randomHex } from '../../core/crypto.ts'
import { MIGRATIONS } from '../../storage/migrations/index.ts'
import { inspect } from '../../storage/sqlite/inspect.ts'
import { takeLock } from '../../storage/sqlite/lock.ts'
import { parseSecrets, readSecretsText, secretsPath } from '../../wiring/secrets.ts'
import { databasePath, lockPath } from '../data-folder.ts'
import { statOrNull } from '../files.ts'
import { networkDisk } from '../network-disk.ts'
import { codeOf, explainStorage, FULL, OperatorError } from '../operator-error.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const MIB = 1024 * 1024
const FREE_LEAST = 64 * MIB
const FREE_GOOD = 1024 * MIB
const NAME = 'Data folder'

/** Whether the data folder, or the place it will be made in, can hold data. */
export function checkFolder({ MB_DATA_DIR: dataDir }: Config): Finding[] {
  const there = statOrNull(dataDir)
  const folder = there ? dataDir : firstExisting(dirname(resolve(dataDir)))
  if (!statOrNull(folder)?.isDirectory()) {
    return [fail(NAME, `${folder} is a file`, 'choose another folder with MB_DATA_DIR')]
  }
  const refusal = refusalOf(folder)
  if (refusal && FULL.has(codeOf(refusal))) {
    return [fail(NAME, `${folder} is on a full disk`, 'free some disk space')]
  }
  const mend = `give this user the right to write to ${folder}, or set MB_DATA_DIR`
  if (refusal) return [fail(NAME, `${folder} cannot be written`, mend)]
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

function firstExisting(path: string): string {
  return statOrNull(path) ? path : firstExisting(dirname(path))
}

/** Why nothing can be written there. Tried: a right to write is not yet a disk that takes it. */
function refusalOf(folder: string): unknown {
  const probe = join(folder, `.moonbase-doctor-${randomHex(6)}`)
  try {
    accessSync(folder, constants.W_OK)
    writeFileSync(probe, 'x')
    return null
  } catch (error) {
    return error
  } finally {
    rmSync(probe, { force: true })
  }
}

/** Whether a server has the folder; null when that cannot be told. */
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
export function checkDatabase({ MB_DATA_DIR: dataDir }: Config, vec0: string | null): Finding {
  const name = 'Database'
  const path = databasePath(dataDir)
  const size = statOrNull(path)?.size
  if (size === undefined) return ok(name, 'none yet; the first start makes it')
  const mend = 'put a backup back: moonbase restore FILE --force'
  try {
    const extensions = vec0 === null ? [] : [vec0]
    const { damage, unknown, pending } = inspect({ path, extensions }, MIGRATIONS)
    if (unknown[0]) {
      return fail(name, `written by a newer Moonbase (${unknown[0]})`, 'use that version')
    }
    if (damage[0]) return fail(name, `damaged: ${damage[0]}`, mend)
    const age = pending.length === 0 ? 'up to date' : 'upgraded at the next start, after a copy'
    return ok(name, `sound, ${Math.ceil(size / MIB)} MiB, ${age}`)
  } catch (error) {
    const told = explainStorage(error, dataDir)
    if (!(told instanceof OperatorError)) return fail(name, 'cannot be read', mend)
    // These sentences end with what to do.
    const [text = '', todo = mend] = told.message.split('; ', 2)
    return fail(name, text, todo)
  }
}

/** Whether secrets.json is whole, and nobody else can read it. */
export function checkSecrets({ MB_DATA_DIR: dataDir }: Config): Finding {
  const name = 'Secrets'
  const path = secretsPath(dataDir)
  if (!statOrNull(path)) return ok(name, 'none yet; the first start makes them')
  const mend = `restore ${path} from a backup`
  try {
    const text = readSecretsText(dataDir)
    if (parseSecrets(text) === null) return fail(name, `${path} is damaged`, mend)
  } catch {
    return fail(name, `${path} cannot be read`, 'give this user the right to read it')
  }
  const open = ((statOrNull(path)?.mode ?? 0) & 0o077) !== 0
  return open
    ? warn(name, `${path} can be read by others`, `chmod 600 ${path}`)
    : ok(name, 'there, and private')
}
