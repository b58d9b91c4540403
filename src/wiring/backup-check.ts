import { classOf } from '../channels/backup/command.ts'
import { tryFolder } from '../channels/backup/folder-store.ts'
import { appError } from '../core/errors.ts'
import { BACKUP_PASSPHRASE_CHARS_MIN } from '../core/limits/contract.ts'
import type { SettingChange } from '../features/system/service.ts'

/** Throws `backup_passphrase` or `backup_folder` for what a backup could not be made with. */
export async function checkBackups(change: SettingChange): Promise<void> {
  const phrase = changed(change, 'MB_BACKUP_PASSPHRASE')
  const min = BACKUP_PASSPHRASE_CHARS_MIN
  // One that holds already goes on.
  if (phrase !== undefined && phrase.length < min) throw appError('backup_passphrase', { min })
  const folder = changed(change, 'MB_BACKUP_DIR')
  if (folder === undefined) return
  await tryFolder(folder).catch((error: Error) => {
    const values = { field: 'MB_BACKUP_DIR', class: classOf(error.message) }
    throw appError('backup_folder', values, { cause: error })
  })
}

/** The new text of a setting; undefined where it stays or goes. */
function changed({ before, after }: SettingChange, name: string): string | undefined {
  return after[name] === before[name] ? undefined : after[name]
}
