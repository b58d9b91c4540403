import type { Program } from '../wiring/adapters.ts'

/** Commands by which this program starts child processes of itself; not in the help text. */

/** The embedding process. */
export const EMBED_COMMAND = 'embed-worker'
/** The recogniser process. */
export const ASR_COMMAND = 'asr-worker'
/** The voice detector. */
export const VAD_COMMAND = 'vad-worker'
/** The process that parses untrusted bytes: recordings and pages. */
export const PARSE_COMMAND = 'parse-worker'
/** The process that is replaced by the program that serves a model. */
export const MODEL_COMMAND = 'model-worker'

const isExecutable = () => Bun.main.startsWith('/$bunfs/')

/** The file that Bun has to run; none for the executable, which contains it. */
export const mainFile = (): readonly string[] => (isExecutable() ? [] : [Bun.main])

/**
 * The addresses of this program's own parts, which differ between the sources and the executable.
 * `main` is the address of `src/main.ts`; the modules of threads are relative to it. `self` is the
 * command that starts this program again.
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
    // The caller continues in this process.
  }
}

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The largest limit that Bun accepts. */
const LIMIT_MAX = '65336'
/** Bun sends crash reports to its makers unless this is set before its start. */
const NO_REPORTS = { BUN_ENABLE_CRASH_REPORTING: '0' }
/**
 * Six times the engine's own count before it compiles a function a third time, which costs each of
 * the first ten thousand turns 100 us of the processor and makes none of them faster. Only for the
 * executable, which contains its Bun: one that does not know the variable would not start.
 */
const COMPILES_LATER = { BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '400000' }

/**
 * Raises Bun's limit of 256 simultaneous fetches, beyond which a turn would wait. Bun reads the
 * limit from the environment before the program begins, so the process replaces itself once by the
 * same program with the variable set. Returns when the variable is set already, by this function or
 * by the operator, or when the replacement fails.
 */
export function liftFetchLimit(env: Env): void {
  if (env[LIMIT] !== undefined) return
  restart({ ...NO_REPORTS, ...(isExecutable() ? COMPILES_LATER : {}), ...env, [LIMIT]: LIMIT_MAX })
}

/** Replaces this process by the same program, in about 10 ms, and returns only when that fails. */
function restart(env: Env): void {
  const args = [...process.execArgv, ...mainFile(), ...process.argv.slice(2)]
  replaceProcess(process.execPath, args, env)
}
