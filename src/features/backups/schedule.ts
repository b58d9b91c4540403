import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { Jobs } from '../../jobs/runner.ts'

/** Wait before the first backup, so that a server that crashes again and again makes none. */
const FIRST_AFTER_MS = MINUTE_MS
/** Wait after a backup that failed. */
const AGAIN_AFTER_MS = 5 * MINUTE_MS

/** Why the last backup failed, as one word; `at` in epoch milliseconds. */
export interface BackupFault {
  readonly at: number
  readonly class: string
}

export interface BackupScheduleOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  /** Where backups are stored by the settings of now; null when nowhere. */
  readonly place: () => string | null
  readonly everyMs: () => number
  /** The settings of backups, as one text; '' without a place. */
  readonly settings: () => string
  /** The last stored backup: when it was taken, in epoch milliseconds, and where it was stored. */
  readonly stored: () => { readonly at: number; readonly place: string } | null
  /** Makes a backup, or with `anew` also one of data that has not changed. */
  readonly make: (
    anew: boolean,
    signal: AbortSignal,
  ) => Promise<{ readonly name: string; readonly at: number; readonly unchanged: boolean }>
  /** A word for the sentence of a failure. */
  readonly classOf: (sentence: string) => string
  /** Longest time that one backup takes. */
  readonly runMsMax: number
}

type Finding = { readonly state: 'ok' | 'down'; readonly class: string }

export type BackupSchedule = ReturnType<typeof createBackupSchedule>

/** Makes backups at intervals, one at a time, and knows how the last one went. */
export function createBackupSchedule(options: BackupScheduleOptions) {
  const { clock, log, jobs, place, everyMs, settings, stored, make } = options
  /** When the last good backup was taken, and when it was last known to be up to date. */
  let takenAt = stored()?.at ?? null
  let goodAt = takenAt
  let failure: BackupFault | null = null
  let nextAt: number | null = null
  let known = settings()
  let waiting = new AbortController()
  let running: Promise<void> | null = null

  async function makeOne(anew: boolean, signal: AbortSignal): Promise<void> {
    const to = place()
    try {
      const { name, at, unchanged } = await make(anew, signal)
      takenAt = at
      goodAt = clock.now()
      failure = null
      if (!unchanged) log.info('backup stored', { name, place: to })
    } catch (error) {
      if (signal.aborted) return
      const reason = error instanceof Error ? error.message : ''
      failure = { at: clock.now(), class: options.classOf(reason) }
      log.error('backup failed', { place: to, reason })
    }
  }

  /** One at a time; whoever asks meanwhile waits for that one. */
  function run(anew: boolean, signal: AbortSignal): Promise<void> {
    running ??= makeOne(anew, signal).finally(() => {
      running = null
    })
    return running
  }

  /** Sleeps until `ms` from now; false when the settings have changed meanwhile. */
  async function pause(ms: number, signal: AbortSignal, changed: AbortSignal): Promise<boolean> {
    nextAt = clock.now() + ms
    await clock.sleep(ms, AbortSignal.any([signal, changed])).catch((error: unknown) => {
      if (!changed.aborted) throw error
    })
    if (!changed.aborted) nextAt = null
    return !changed.aborted
  }

  function begin(): void {
    nextAt = null
    if (place() === null) return
    const { signal: changed } = waiting
    jobs.run('make backups', async (signal) => {
      const sinceLast = takenAt === null ? everyMs() : Math.max(0, clock.now() - takenAt)
      const due = Math.max(0, everyMs() - sinceLast)
      let ms = Math.max(due, Math.min(everyMs() / 2, FIRST_AFTER_MS))
      while (await pause(ms, signal, changed)) {
        const begun = clock.steady()
        await run(false, signal)
        const every = failure ? Math.min(everyMs(), AGAIN_AFTER_MS) : everyMs()
        ms = Math.max(0, every - (clock.steady() - begun))
      }
    })
  }
  begin()

  return {
    failure: () => failure,
    /** When the next one is due, in epoch ms; null without a place, and while one is made. */
    nextAt: () => (running === null ? nextAt : null),
    /** Makes one now, also of data that has not changed. */
    makeNow: () => jobs.run('make a backup', (signal) => run(true, signal)),

    /** To be called when settings have changed. */
    settingsChanged(): void {
      const now = settings()
      if (now === known) return
      known = now
      failure = null
      if (stored()?.place !== place()) [takenAt, goodAt] = [null, null]
      waiting.abort()
      waiting = new AbortController()
      begin()
    },

    /** Seconds since the last good backup was taken; null before the first. */
    ageSeconds: (): number | null =>
      takenAt === null || place() === null ? null : Math.max(0, clock.now() - takenAt) / 1_000,

    /** For the status page; null where backups are not configured. */
    finding(): Finding | null {
      if (place() === null) return null
      if (failure) return { state: 'down', class: 'backup_failed' }
      if (goodAt === null) return { state: 'ok', class: 'standby' }
      const late = clock.now() - goodAt > 2 * everyMs() + options.runMsMax
      return late ? { state: 'down', class: 'backup_late' } : { state: 'ok', class: 'ok' }
    },
  }
}
