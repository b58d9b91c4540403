import { BACKUP_MS_MAX, classOf, storeBackup, streamBackup } from '../channels/backup/command.ts'
import type { Config } from '../config.ts'
import { readBackupState } from '../data-folder/backup-state.ts'
import { createBackupSchedule } from '../features/backups/schedule.ts'
import { createBackups } from '../features/backups/service.ts'
import type { Jobs } from '../jobs/runner.ts'
import { durationMs } from '../setting-values.ts'
import type { Adapters } from './adapters.ts'
import { backupPlace, boxOf, openBackupStore } from './backup-place.ts'

const NAMES = [
  'MB_BACKUP_DIR',
  'MB_BACKUP_S3',
  'MB_BACKUP_PASSPHRASE',
  'MB_BACKUP_EVERY',
  'MB_BACKUP_KEEP',
] as const

/** The settings of backups as the environment of a child process. */
const textsIn = (config: Config) =>
  Object.fromEntries(
    NAMES.flatMap((name) => (config[name] === undefined ? [] : [[name, String(config[name])]])),
  )

/**
 * Wires backups. Each is made in a child process of low priority, so that neither reading nor
 * sending the database slows the event loop or the writer thread. None where the data is in
 * PostgreSQL.
 */
export function openBackups({ config, env, clock, log, live, program }: Adapters, jobs: Jobs) {
  const isFile = config.MB_DATABASE_URL === undefined
  const place = () => (isFile ? backupPlace(live.config()) : null)
  const stored = () => (isFile ? readBackupState(config.MB_DATA_DIR) : null)
  const box = () => boxOf(config)
  /** With the settings of now, which may be the console's. */
  const command = (args: readonly string[], own: Readonly<Record<string, string>> = {}) => ({
    command: program.backup.concat(args),
    env: Object.fromEntries(
      [env, textsIn(live.config()), own].flatMap((texts) => Object.entries(texts)),
    ),
  })
  const schedule = createBackupSchedule({
    clock,
    log,
    jobs,
    place,
    everyMs: () => durationMs(live.config().MB_BACKUP_EVERY),
    settings: () => (place() === null ? '' : JSON.stringify(textsIn(live.config()))),
    stored,
    make: (anew, signal) => storeBackup(command(anew ? ['--anew'] : []), clock.steady, signal),
    classOf,
    runMsMax: BACKUP_MS_MAX,
  })
  const routes = createBackups({
    clock,
    log,
    schedule,
    isFile,
    place,
    box,
    stored,
    open: (from) => openBackupStore(from, env, box()),
    stream: (passphrase, signal) =>
      streamBackup(command(['--stream'], { MB_BACKUP_PASSPHRASE: passphrase }), signal),
  })
  return {
    routes,
    settingsChanged: schedule.settingsChanged,
    ageSeconds: schedule.ageSeconds,
    finding: schedule.finding,
  }
}

export type Backups = ReturnType<typeof openBackups>
