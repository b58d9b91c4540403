import { renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { databasePath } from '../data-folder/data-folder.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { codeOf, explainStorage, needsFile, OperatorError } from '../data-folder/operator-error.ts'
import { readBackup } from '../storage/sqlite/backup.ts'
import { type Invocation, onlyFile, parseArguments } from './arguments.ts'
import { type StoredReport, writeSnapshot } from './store-backup.ts'

const USAGE = 'moonbase backup [FILE] [--json]'

/**
 * `moonbase backup FILE`: writes the whole data folder to one file, while the server runs. The file
 * appears under its name only when it is complete and on the disk. Without FILE the backup is
 * stored, encrypted, in the place of the settings.
 */
export async function runBackup(invocation: Invocation): Promise<void> {
  const { args, env, version, write } = invocation
  const { values, positionals } = parseArguments(args, {
    json: { type: 'boolean' },
    anew: { type: 'boolean' },
    stream: { type: 'boolean' },
  })
  // Parsed before the folder is checked, so that a wrong call is reported as such.
  const file = positionals.length === 0 ? null : onlyFile(positionals, USAGE)
  const config = loadConfig(env)
  needsFile(config, 'back it up with pg_dump')
  checkDatabaseExists(config.MB_DATA_DIR)
  if (values.stream === true) return writeToOutput(config, version)
  if (file === null) {
    const anew = values.anew === true
    const { storeBackup } = await import('./store-backup.ts')
    const stored = await storeBackup(config, invocation, { anew }).catch((error: unknown) => {
      throw explainStorage(error, config.MB_DATA_DIR)
    })
    write(values.json === true ? `${JSON.stringify(stored)}\n` : storedText(stored))
    return
  }
  const target = resolve(file)
  checkTarget(target, config.MB_DATA_DIR)
  await writeSnapshot(config, version, dirname(target), (draft) => {
    renameSync(draft, target)
    syncToDisk(dirname(target))
  }).catch((error: unknown) => {
    throw explainBackup(error, file, config.MB_DATA_DIR)
  })
  write(report(config, target))
}

/** For the server, which passes the bytes on to its operator. */
async function writeToOutput(config: Config, version: string): Promise<void> {
  const { streamBackup } = await import('./store-backup.ts')
  const sink = Bun.stdout.writer()
  await streamBackup(config, version, async (piece) => {
    sink.write(piece)
    await sink.flush()
  }).catch((error: unknown) => {
    throw explainStorage(error, config.MB_DATA_DIR)
  })
  await sink.end()
}

function checkDatabaseExists(dataDir: string): void {
  if (statOrNull(databasePath(dataDir))) return
  throw new OperatorError(`MB_DATA_DIR ${dataDir} holds no database; there is nothing to back up`)
}

const storedText = ({ name, place, unchanged }: StoredReport) =>
  unchanged
    ? `\n  Nothing has changed since ${name} in ${place}.\n\n`
    : `\n  Stored ${name} in ${place}.
  Only MB_BACKUP_PASSPHRASE opens it: keep the passphrase somewhere else.\n\n`

/** Refuses to replace a file that is no backup: it may be the database itself. */
function checkTarget(target: string, dataDir: string): void {
  const folder = statOrNull(dirname(target))
  if (!folder?.isDirectory()) {
    throw new OperatorError(`the folder ${dirname(target)} does not exist; make it first`)
  }
  const there = statOrNull(target)
  const own = target.startsWith(`${resolve(dataDir)}/moonbase.`)
  if (own) throw new OperatorError(`${target} is a name of the server's own; choose another`)
  if (!there || there.size === 0 || isBackup(target)) return
  throw new OperatorError(`${target} is there and is no backup; choose another name`)
}

function isBackup(path: string): boolean {
  try {
    return readBackup(path) !== null
  } catch {
    return false
  }
}

function explainBackup(error: unknown, file: string, dataDir: string): unknown {
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR_WRITE')) {
    return new OperatorError(`the disk is too full for ${file}; nothing was written`)
  }
  if (['EACCES', 'EROFS', 'EPERM'].includes(code)) {
    return new OperatorError(`${file} cannot be written there; choose another place`)
  }
  return explainStorage(error, dataDir)
}

function report(config: Config, target: string): string {
  const kib = Math.ceil((statOrNull(target)?.size ?? 0) / 1024)
  const outside = (['MB_ENCRYPTION_KEY', 'MB_SESSION_SECRET'] as const).filter(
    (name) => config[name] !== undefined && config[name] !== 'off',
  )
  const note =
    outside.length === 0
      ? ''
      : `\n  Not in it, because the environment sets it: ${outside.join(', ')}. Keep it yourself.\n`
  return `\n  Backed up to ${target} (${kib} KiB).
  It holds every key and conversation of this server: keep it as safe as the server.\n${note}\n`
}
