import { MINUTE_MS } from '../core/clock.ts'
import { readBackupState } from '../data-folder/backup-state.ts'
import type { Finding } from '../features/site/status.ts'
import type { Jobs } from '../jobs/runner.ts'
import { durationMs } from '../setting-values.ts'
import type { Adapters } from './adapters.ts'
import { backupPlace } from './backup-store.ts'

/** The first one after a start waits, so that a server that falls again and again makes none. */
const FIRST_AFTER_MS = MINUTE_MS
/** After one that failed. */
const AGAIN_AFTER_MS = 5 * MINUTE_MS
/** One upload takes this long at most (contract-2, 5.4). */
const RUN_MS_MAX = 30 * MINUTE_MS

/**
 * Makes backups in time, each in a child process of low priority, so that neither reading the
 * database nor sending it touches the event loop or the writing thread. Null when none are wanted.
 */
export function openBackups({ config, clock, log, program }: Adapters, jobs: Jobs) {
  const place = backupPlace(config)
  if (place === null) return null
  const everyMs = durationMs(config.MB_BACKUP_EVERY)
  const last = readBackupState(config.MB_DATA_DIR)
  /** When the last good one was taken, and when it was last known to hold everything. */
  let takenAt = last?.at ?? null
  let goodAt = takenAt
  let failed = false

  async function run(signal: AbortSignal): Promise<void> {
    try {
      const { name, at, unchanged } = await makeOne(program.backup, signal)
      takenAt = at
      goodAt = clock.now()
      failed = false
      if (!unchanged) log.info('backup stored', { name, place })
    } catch (error) {
      if (signal.aborted) return
      failed = true
      log.error('backup failed', { place, reason: error instanceof Error ? error.message : '' })
    }
  }

  jobs.run('make backups', async (signal) => {
    const sinceLast = takenAt === null ? everyMs : Math.max(0, clock.now() - takenAt)
    const due = Math.max(0, everyMs - sinceLast)
    await clock.sleep(Math.max(due, Math.min(everyMs / 2, FIRST_AFTER_MS)), signal)
    for (;;) {
      const begun = clock.steady()
      await run(signal)
      const pause = failed ? Math.min(everyMs, AGAIN_AFTER_MS) : everyMs
      await clock.sleep(Math.max(0, pause - (clock.steady() - begun)), signal)
    }
  })

  return {
    /** Seconds since the last good one was taken; null before the first. */
    ageSeconds: (): number | null =>
      takenAt === null ? null : Math.max(0, clock.now() - takenAt) / 1_000,
    finding(): Finding {
      if (failed) return { state: 'down', class: 'backup_failed' }
      if (goodAt === null) return { state: 'ok', class: 'standby' }
      const late = clock.now() - goodAt > 2 * everyMs + RUN_MS_MAX
      return late ? { state: 'down', class: 'backup_late' } : { state: 'ok', class: 'ok' }
    },
  }
}

export type Backups = NonNullable<ReturnType<typeof openBackups>>

interface Stored {
  readonly name: string
  readonly at: number
  readonly unchanged: boolean
}

/** Runs the command to its end; its sentence is the error when it fails. */
async function makeOne(command: readonly string[], signal: AbortSignal): Promise<Stored> {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
    timeout: RUN_MS_MAX,
    killSignal: 'SIGKILL',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code === 0) return JSON.parse(out) as Stored
  const sentence = err
    .replace(/^moonbase: /, '')
    .trim()
    .split('\n')[0]
  throw new Error(child.signalCode ? 'it took more than 30 minutes' : sentence || `exit ${code}`)
}
