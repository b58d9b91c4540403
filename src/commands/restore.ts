import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import {
  databasePath,
  holdDataDir,
  restoreDrafts,
  watchEmptyFolder,
} from '../data-folder/data-folder.ts'
import { fileStamp, statOrNull, syncToDisk } from '../data-folder/files.ts'
import { codeOf, explainStorage, needsFile, OperatorError } from '../data-folder/operator-error.ts'
import { parseSecrets, secretsPath } from '../data-folder/secrets.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import {
  BACKUP_PARTS,
  type BackupParts,
  foldLog,
  readBackup,
  stripBackup,
} from '../storage/sqlite/backup.ts'
import { inspect } from '../storage/sqlite/inspect.ts'
import { boxOf } from '../wiring/backup-place.ts'
import { type Invocation, onlyFile, parseArguments } from './arguments.ts'
import { printableLine } from './output.ts'
import { findBackup, type RestoreSource, type Wanted } from './restore-source.ts'

/**
 * `moonbase restore FILE`, or a folder or a place in a bucket: checks the whole backup, then
 * restores it. The old data stays unchanged until the last step, a rename, and is kept in
 * `backups/`.
 */
export async function runRestore({ args, env, write }: Invocation): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    force: { type: 'boolean' },
    box: { type: 'string' },
  })
  const named = onlyFile(positionals, 'moonbase restore FILE [--box ID] [--force]')
  const config = loadConfig(env)
  needsFile(config, 'restore a backup of pg_dump with pg_restore or psql')
  const { MB_DATA_DIR: dataDir } = config
  checkNamed(named)
  const removeTraces = watchEmptyFolder(dataDir)
  const lock = holdDataDir(dataDir)
  const { fetched } = restoreDrafts(dataDir)
  try {
    const source = await findBackup(wantedOf(named, values.box, config), env, fetched)
    const backup = check(source)
    const old = statOrNull(databasePath(dataDir)) ?? statOrNull(secretsPath(dataDir))
    if (old && values.force !== true) {
      throw new OperatorError(`MB_DATA_DIR ${dataDir} holds data; to replace it add --force`)
    }
    const kept = replace(dataDir, source, backup)
    write(report(dataDir, source, backup, kept))
  } catch (error) {
    removeTraces()
    throw explainStorage(error, dataDir)
  } finally {
    if (statOrNull(fetched)) rmSync(fetched, { force: true })
    lock.release()
  }
}

function wantedOf(named: string, box: unknown, config: Config): Wanted {
  const isKnown = statOrNull(secretsPath(config.MB_DATA_DIR)) || config.MB_SESSION_SECRET
  return {
    named,
    box: typeof box === 'string' ? box.trim().toLowerCase() : null,
    own: isKnown ? boxOf(config) : null,
  }
}

/** Throws when the named file does not exist, before anything is made in the data folder. */
function checkNamed(named: string): void {
  if (named.startsWith('s3://') || statOrNull(resolve(named))) return
  throw new OperatorError(`${resolve(named)} is no file`)
}

/** Checks everything that can be wrong with a backup before anything is changed. */
function check({ path, name }: RestoreSource): BackupParts {
  const backup = attempt(name, () => readBackup(path))
  if (!backup) throw new OperatorError(`${name} is no backup of Moonbase`)
  const { damage, unknown, foreign } = attempt(name, () => inspect(path, MIGRATIONS, BACKUP_PARTS))
  if (unknown[0]) {
    throw new OperatorError(
      `${name} was written by a newer Moonbase (${backup.version}, it has ${unknown[0]}); ` +
        'restore it with that version',
    )
  }
  if (foreign[0]) {
    throw new OperatorError(
      `${name} is no backup of Moonbase: its schema differs (${foreign[0]}); take another one`,
    )
  }
  const secretsFine = backup.secrets === null || parseSecrets(backup.secrets) !== null
  if (damage[0] || !secretsFine) {
    throw new OperatorError(`${name} is damaged (${damage[0] ?? 'its secrets'}); take another one`)
  }
  return backup
}

function attempt<Result>(name: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!codeOf(error).startsWith('SQLITE_')) throw error
    throw new OperatorError(`${name} is no backup of Moonbase, or a damaged one; take another`)
  }
}

/** Replaces the data. Returns the path of the old data; null when there was none. */
function replace(
  dataDir: string,
  { path }: RestoreSource,
  { secrets }: BackupParts,
): string | null {
  const database = databasePath(dataDir)
  const drafts = restoreDrafts(dataDir)
  const { database: draft, secrets: secretsDraft } = drafts
  try {
    if (path === drafts.fetched) renameSync(path, draft)
    else copyFileSync(path, draft, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    chmodSync(draft, 0o600)
    stripBackup(draft)
    syncToDisk(draft)
    if (secrets !== null) {
      writeFileSync(secretsDraft, secrets, { mode: 0o600, flag: 'wx' })
      syncToDisk(secretsDraft)
    }
    const kept = setAside(dataDir)
    // SQLite would replay a log that is left behind into the restored database.
    for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true })
    renameSync(draft, database)
    if (secrets !== null) renameSync(secretsDraft, secretsPath(dataDir))
    syncToDisk(dataDir)
    return kept
  } finally {
    for (const path of Object.values(drafts)) rmSync(path, { force: true })
  }
}

/** Links the old files to a second name, which remains after the new ones are renamed over them. */
function setAside(dataDir: string): string | null {
  const database = databasePath(dataDir)
  const folder = join(dataDir, 'backups')
  const name = join(folder, `before-restore-${fileStamp(new Date(systemClock().now()))}`)
  const pairs: [string, string][] = [
    [database, `${name}.db`],
    [`${database}-wal`, `${name}.db-wal`],
    [secretsPath(dataDir), `${name}.secrets.json`],
  ]
  try {
    foldLog(database)
  } catch {
    // A missing or damaged database is kept unchanged, with its log.
  }
  const there = pairs.filter(([path]) => (statOrNull(path)?.size ?? 0) > 0)
  if (there.length === 0) return null
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [path, aside] of there) linkSync(path, aside)
  syncToDisk(folder)
  return name
}

function report(
  dataDir: string,
  { name, skipped }: RestoreSource,
  { createdAt, version, secrets }: BackupParts,
  kept: string | null,
): string {
  const rows = [
    ...skipped.map((reason) => `Left out: ${reason}`),
    `Restored ${name} into ${dataDir}.`,
    `It was made at ${createdAt} by version ${version}.`,
    ...(secrets === null ? ['It holds no secrets.json; the one that was there stays.'] : []),
    ...(kept === null ? [] : [`What was there before lies in ${kept}.*`]),
  ]
  return `\n${rows.map((row) => `  ${printableLine(row)}\n`).join('')}\n`
}
