import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { type BackupStore, backupName, isOfBox, timeIn } from '../../upstream/ports/backup-store.ts'
import type { BackupsResponse, LastBackup } from '../system/machine-model.ts'
import type { BackupSchedule } from './schedule.ts'

export interface BackupsOptions {
  readonly clock: Pick<Clock, 'iso'>
  readonly log: Logger
  readonly schedule: BackupSchedule
  /** Whether the data is a file, which alone can be backed up. */
  readonly isFile: boolean
  /** Where backups are stored by the settings of now; null when nowhere. */
  readonly place: () => string | null
  /** Tells this server from others that share the place. */
  readonly box: () => string
  /** The last stored backup; `at` in epoch milliseconds. */
  readonly stored: () => {
    readonly at: number
    readonly place: string
    readonly bytes: number
  } | null
  readonly open: (place: string) => Promise<BackupStore>
  /** A fresh backup as it is made. Throws `backup_failed`. */
  readonly stream: (passphrase: string, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>
}

const iso = (ms: number) => new Date(ms).toISOString()

/** What operators see of backups, and do with them. */
export function createBackups(options: BackupsOptions) {
  const { clock, log, schedule, isFile, place, box, stored, open, stream } = options

  function last(): LastBackup | null {
    const fault = schedule.failure()
    if (fault) return { at: iso(fault.at), bytes: 0, ok: false, error_class: fault.class }
    const state = stored()
    if (!state || state.place !== place()) return null
    return { at: iso(state.at), bytes: state.bytes, ok: true, error_class: null }
  }

  async function kept(from: string): Promise<BackupsResponse['kept']> {
    try {
      const own = (await (await open(from)).list()).filter(({ name }) => isOfBox(name, box()))
      return own.map(({ name, bytes }) => ({ name, at: iso(timeIn(name)), bytes }))
    } catch (error) {
      log.warn('backups cannot be listed', { reason: error instanceof Error ? error.message : '' })
      return []
    }
  }

  return {
    /** Null before the first, and after the place has changed. */
    last,

    async read(): Promise<BackupsResponse> {
      const from = place()
      if (from === null) return { place: null, last: null, next_at: null, kept: [] }
      const next = schedule.nextAt()
      const next_at = next === null ? null : iso(next)
      return { place: from, last: last(), next_at, kept: await kept(from) }
    },

    /** Throws `backup_no_place`. */
    begin(): void {
      if (!isFile) throw appError('backup_postgres')
      if (place() === null) throw appError('backup_no_place')
      schedule.makeNow()
    },

    async download(passphrase: string, signal: AbortSignal) {
      if (!isFile) throw appError('backup_postgres')
      const name = backupName(clock.iso(), box())
      return { name, bytes: await stream(passphrase, signal) }
    },
  }
}
