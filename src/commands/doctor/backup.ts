import type { Config } from '../../config.ts'
import { HOUR_MS, systemClock } from '../../core/clock.ts'
import { readBackupState } from '../../data-folder/backup-state.ts'
import { OperatorError } from '../../data-folder/operator-error.ts'
import { BackupStoreError, backupName } from '../../upstream/ports/backup-store.ts'
import { backupPlace, openBackupStore } from '../../wiring/backup-place.ts'
import type { Invocation } from '../arguments.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const NAME = 'Backups'
/** A shorter passphrase can be found by trying all, and gets a warning. */
export const PASSPHRASE_CHARS_GOOD = 16
/** An id that no box has, so that no real backup is mistaken for the trial. */
const TRIAL_BOX = '00000000'

/** Writes a trial to the place of backups, reads it and removes it. */
export async function checkBackups(config: Config, env: Invocation['env']): Promise<Finding> {
  const place = backupPlace(config)
  if (place === null) {
    return ok(NAME, 'none; choose a place in the browser, Server → Limits and backups')
  }
  try {
    const store = await openBackupStore(place, env, TRIAL_BOX)
    const name = backupName(systemClock().iso(), TRIAL_BOX)
    await store.write(name, async function* () {
      yield Buffer.from('a trial')
    })
    try {
      for await (const _ of store.read(name));
    } finally {
      await store.remove(name)
    }
  } catch (error) {
    if (!(error instanceof BackupStoreError || error instanceof OperatorError)) throw error
    return fail(NAME, error.message, 'check the place, and who may write there')
  }
  if ((config.MB_BACKUP_PASSPHRASE?.length ?? 0) < PASSPHRASE_CHARS_GOOD) {
    const mend = `take one of ${PASSPHRASE_CHARS_GOOD} characters or more, and keep the old one too`
    return warn(NAME, `${place} takes them; MB_BACKUP_PASSPHRASE is short`, mend)
  }
  return ok(NAME, `${place} takes them${ageOf(config)}`)
}

function ageOf(config: Config): string {
  const last = readBackupState(config.MB_DATA_DIR)
  if (!last) return '; none has been made yet'
  const hours = (systemClock().now() - last.at) / HOUR_MS
  return `; the last one is ${hours.toFixed(1)} hours old`
}
