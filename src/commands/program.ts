import type { Program } from '../wiring/adapters.ts'

/** Commands by which this program starts child processes of itself; not in the help text. */

/** The embedding process. */
export const EMBED_COMMAND = 'embed-worker'
/** The recogniser process. */
export const ASR_COMMAND = 'asr-worker'
/** The process that tells voices from noise. */
export const VAD_COMMAND = 'vad-worker'
/** The process that parses untrusted bytes: recordings and pages. */
export const PARSE_COMMAND = 'parse-worker'
/** The program that serves a model, which takes the place of this one. */
export const MODEL_COMMAND = 'model-worker'

/** The file that Bun is told to run; none for the executable, which has it inside. */
export const mainFile = (): readonly string[] => (Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main])

/**
 * Where this program finds its own parts, which differs between the sources and the executable.
 * `main` is the address of `src/main.ts`; threads keep their place beside it. `self` is how it
 * starts itself again.
 */
export function programAt(main: string, self: readonly string[]): Program {
  const thread = (path: string) => new URL(path, main).href
  return {
    embedWorker: [...self, EMBED_COMMAND],
    asrWorker: [...self, ASR_COMMAND],
    vadWorker: [...self, VAD_COMMAND],
    parseWorker: [...self, PARSE_COMMAND],
    backup: [...self, 'backup', '--json'],
    modelWorker: [...self, MODEL_COMMAND],
    writerUrl: thread('./storage/sqlite/writer.ts'),
    readerUrl: thread('./storage/sqlite/reader.ts'),
    encoderUrl: thread('./audio/encode-worker.ts'),
    jsonUrl: thread('./http/json-worker.ts'),
  }
}

type Env = Readonly<Record<string, string | undefined>>

/** Replaces this process by another program (execve(2)), and returns only when that fails. */
export function replaceProcess(program: string, args: readonly string[], env: Env): void {
  try {
    process.execve?.(program, [program, ...args], { ...env })
  } catch {
    // The caller goes on without.
  }
}

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The most that Bun takes. */
const LIMIT_MAX = '65336'
/** Bun sends crash reports to its makers unless this is set before it begins. */
const NO_REPORTS = { BUN_ENABLE_CRASH_REPORTING: '0' }

/**
 * Bun runs 256 fetches at a time, so the 257th conversation would wait, and it reads the limit from
 * the environment before the program begins. So the process replaces itself once by the same
 * program with the variable set. Returns when the variable is already set, by this function or by
 * the operator, or when the replacement fails.
 */
export function liftFetchLimit(env: Env): void {
  if (env[LIMIT] === undefined) restart({ ...NO_REPORTS, ...env, [LIMIT]: LIMIT_MAX })
}

/** Replaces this process by the same program, in about 10 ms, and returns only when that fails. */
function restart(env: Env): void {
  const args = [...process.execArgv, ...mainFile(), ...process.argv.slice(2)]
  replaceProcess(process.execPath, args, env)
}
