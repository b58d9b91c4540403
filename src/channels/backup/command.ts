import { MINUTE_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'

/** A child process that makes a backup. */
export interface BackupCommand {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The backup that a command has stored, or found up to date. */
interface Stored {
  readonly name: string
  /** When it was taken, in epoch milliseconds. */
  readonly at: number
  readonly unchanged: boolean
}

/** One upload takes this long at most. */
export const BACKUP_MS_MAX = 30 * MINUTE_MS

const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/another backup/, 'busy'],
  [/full disk|MiB free|too full/, 'disk_full'],
  [/cannot be written|takes no writes/, 'no_permission'],
  [/folder above|is no folder/, 'no_folder'],
  [/AWS_|refused|denied|403/i, 'refuses_login'],
  [/30 minutes/, 'timeout'],
]

/** A word for the sentence of a failed backup. */
export const classOf = (sentence: string): string =>
  CLASSES.find(([pattern]) => pattern.test(sentence))?.[1] ?? 'error'

/** Runs the command to its end. When it fails, the error has the sentence that it printed. */
export async function storeBackup(
  { command, env }: BackupCommand,
  steady: () => number,
  signal: AbortSignal,
): Promise<Stored> {
  const begun = steady()
  const child = Bun.spawn([...command], {
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
    timeout: BACKUP_MS_MAX,
    killSignal: 'SIGKILL',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code === 0) return JSON.parse(out) as Stored
  const tookMs = steady() - begun
  const ended = child.signalCode === null ? null : String(child.signalCode)
  throw new Error(endOf({ signal: ended, code, sentence: sentenceIn(err), tookMs }))
}

/** The output of the command, when it has begun. Throws `backup_failed`. */
export async function streamBackup(
  { command, env }: BackupCommand,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const child = Bun.spawn([...command], {
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
    killSignal: 'SIGKILL',
  })
  const printed = new Response(child.stderr).text()
  const reader = child.stdout.getReader()
  const first = await reader.read()
  const failed = async () => appError('backup_failed', { class: classOf(await printed) })
  if (first.done) throw await failed()
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(first.value),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      // Cut short, the file tells so itself; the browser hears of it, too.
      if ((await child.exited) === 0) controller.close()
      else controller.error(await failed())
    },
    cancel: () => child.kill('SIGKILL'),
  })
}

/** The sentence that a command printed before it ended. */
const sentenceIn = (err: string): string =>
  err
    .replace(/^moonbase: /, '')
    .trim()
    .split('\n')[0] ?? ''

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
  if (tookMs >= BACKUP_MS_MAX) return 'it took more than 30 minutes'
  const why = signal === 'SIGKILL' ? '; the machine may lack memory' : ''
  return `it was ended by ${signal}${why}`
}
