import { chmodSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { HOUR_MS, systemClock } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { statOrNull, syncToDisk } from '../data-folder/files.ts'
import { codeOf, explainStorage, OperatorError, onDataDir } from '../data-folder/operator-error.ts'
import { readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import { prepareRuntime } from '../native/runtime.ts'
import { readBackup, writeBackup } from '../storage/sqlite/backup.ts'
import { type Invocation, onlyFile, parseArguments } from './arguments.ts'

const DRAFT = '.moonbase-backup-'
const STALE = /^\.moonbase-backup-[0-9a-f]{12}\.tmp(-journal)?$/

/**
 * `moonbase backup FILE`: the whole data folder as one file, while the server runs. The file
 * appears under its name only when it is complete and on the disk.
 */
export async function runBackup({ args, env, version, write }: Invocation): Promise<void> {
  const file = onlyFile(parseArguments(args, {}).positionals, 'moonbase backup FILE')
  const config = loadConfig(env)
  const dataDir = config.MB_DATA_DIR
  const target = resolve(file)
  checkTarget(target, dataDir)
  if (!statOrNull(databasePath(dataDir))) {
    throw new OperatorError(`MB_DATA_DIR ${dataDir} holds no database; there is nothing to back up`)
  }
  onDataDir(dataDir, () => secureDataDir(dataDir))
  const runtime = await prepareRuntime(dataDir).catch((error: unknown) => {
    throw explainStorage(error, dataDir)
  })
  removeStaleDrafts(dirname(target))
  const draft = join(dirname(target), `${DRAFT}${randomHex(6)}.tmp`)
  try {
    // It will hold secrets, so it is made with its mode before anything is written to it.
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
    const source = { path: databasePath(dataDir), extensions: [runtime.vec0] }
    const secrets = readSecretsText(secretsPath(dataDir))
    writeBackup(source, draft, { version, createdAt: systemClock().iso(), secrets })
    chmodSync(draft, 0o600)
    syncToDisk(draft)
    renameSync(draft, target)
    syncToDisk(dirname(target))
  } catch (error) {
    throw explainBackup(error, file, dataDir)
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
  write(report(config, target))
}

/** Drafts of killed backups: one that is still being written changes all the time. */
function removeStaleDrafts(folder: string): void {
  const before = systemClock().now() - HOUR_MS
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const stale = STALE.test(name) && (statOrNull(path)?.mtimeMs ?? before) < before
    if (stale) rmSync(path, { force: true })
  }
}

/** The names in the folder; none when this user may write to it but not read it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

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
