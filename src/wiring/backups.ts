import type { Config } from '../config.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { sha256Hex } from '../core/crypto.ts'
import { readBackupState } from '../data-folder/backup-state.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import { readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import type { ProbeFinding } from '../features/site/status.ts'
import type { Jobs } from '../jobs/runner.ts'
import { durationMs } from '../setting-values.ts'
import type { BackupStore } from '../upstream/ports/backup-store.ts'
import type { Adapters } from './adapters.ts'

/** Wait before the first backup, so that a server that crashes again and again makes none. */
const FIRST_AFTER_MS = MINUTE_MS
/** Wait after a backup that failed. */
const AGAIN_AFTER_MS = 5 * MINUTE_MS
/** One upload takes this long at most. */
const RUN_MS_MAX = 30 * MINUTE_MS

/**
 * Makes backups at intervals, each in a child process of low priority, so that neither reading nor
 * sending the database slows the event loop or the writer thread. Null when none are configured.
 */
export function openBackups({ config, clock, log, program }: Adapters, jobs: Jobs) {
  const place = backupPlace(config)
  if (place === null) return null
  const everyMs = durationMs(config.MB_BACKUP_EVERY)
  const last = readBackupState(config.MB_DATA_DIR)
  /** When the last good backup was taken, and when it was last known to be up to date. */
  let takenAt = last?.at ?? null
  let goodAt = takenAt
  let failed = false

  async function run(signal: AbortSignal): Promise<void> {
    try {
      const { name, at, unchanged } = await makeOne(program.backup, clock.steady, signal)
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
    /** Seconds since the last good backup was taken; null before the first. */
    ageSeconds: (): number | null =>
      takenAt === null ? null : Math.max(0, clock.now() - takenAt) / 1_000,
    finding(): ProbeFinding {
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

/** Runs the command to its end. When it fails, the error has the sentence that it printed. */
async function makeOne(
  command: readonly string[],
  steady: () => number,
  signal: AbortSignal,
): Promise<Stored> {
  const begun = steady()
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
  const tookMs = steady() - begun
  const ended = child.signalCode === null ? null : String(child.signalCode)
  throw new Error(endOf({ signal: ended, code, sentence: sentence ?? '', tookMs }))
}

interface ChildEnd {
  readonly signal: string | null
  readonly code: number
  /** What it printed. */
  readonly sentence: string
  readonly tookMs: number
}

/** Why a child made no backup. The kernel ends one with SIGKILL, too, for want of memory. */
export function endOf({ signal, code, sentence, tookMs }: ChildEnd): string {
  if (signal === null) return sentence || `exit ${code}`
  if (tookMs >= RUN_MS_MAX) return 'it took more than 30 minutes'
  const why = signal === 'SIGKILL' ? '; the machine may lack memory' : ''
  return `it was ended by ${signal}${why}`
}

type Env = Readonly<Record<string, string | undefined>>

/** Eight hex digits that tell this server from others that share a place for backups. */
export function boxOf({ MB_DATA_DIR, MB_SESSION_SECRET }: Config): string {
  return boxOfSecrets(readSecretsText(secretsPath(MB_DATA_DIR)) ?? String(MB_SESSION_SECRET))
}

/** The same by the text of its secrets.json. */
export const boxOfSecrets = (secrets: string): string =>
  sha256Hex(`backups of ${secrets}`).slice(0, 8)

/** Opens a folder, or `s3://bucket/prefix` with the usual AWS variables. Throws `OperatorError`. */
export async function openBackupStore(place: string, env: Env, box: string): Promise<BackupStore> {
  if (!place.startsWith('s3://')) {
    const { createFolderStore } = await import('../channels/backup/folder-store.ts')
    return createFolderStore(place)
  }
  const { createS3Store } = await import('../channels/backup/s3-store.ts')
  const [bucket = '', ...path] = place.slice('s3://'.length).split('/')
  const accessKeyId = env.AWS_ACCESS_KEY_ID
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY
  if (!accessKeyId || !secretAccessKey) {
    throw new OperatorError(`${place} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  }
  const s3 = {
    bucket,
    prefix: path.filter(Boolean).join('/'),
    endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null,
    region: env.AWS_REGION || 'us-east-1',
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || null,
  }
  return createS3Store(s3, { fetch, sleep: (ms) => Bun.sleep(ms), box })
}

/** Where this server stores its backups; null when that is not configured. */
export const backupPlace = ({ MB_BACKUP_S3, MB_BACKUP_DIR }: Config): string | null =>
  MB_BACKUP_S3 ?? MB_BACKUP_DIR ?? null
