import { replaceProcess } from './exec.ts'
import { mainFile } from './program.ts'

type Env = Readonly<Record<string, string | undefined>>

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
