import { dlopen, FFIType, ptr } from 'bun:ffi'
import { mainFile } from './program.ts'

type Env = Readonly<Record<string, string | undefined>>

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The most that Bun takes. */
const LIMIT_MAX = '65336'
/** Bun sends crash reports to its makers unless this is set before it begins. */
const NO_REPORTS = { BUN_ENABLE_CRASH_REPORTING: '0' }
const C_LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']

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
  const own = [...process.execArgv, ...mainFile()]
  const argv = [process.execPath, ...own, ...process.argv.slice(2)]
  const pairs = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  for (const library of C_LIBRARIES) {
    try {
      const { symbols } = dlopen(library, {
        execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
      })
      const [path, args, vars] = [cString(process.execPath), cStrings(argv), cStrings(pairs)]
      symbols.execve(ptr(path), ptr(args.pointers), ptr(vars.pointers))
    } catch {
      // This machine has another C library.
    }
  }
}

const cString = (text: string) => Buffer.from(`${text}\0`)

/** A null-terminated array of C strings; `buffers` keeps the memory alive during the call. */
function cStrings(texts: readonly string[]) {
  const buffers = texts.map(cString)
  const pointers = new BigUint64Array(buffers.length + 1)
  for (const [index, buffer] of buffers.entries()) pointers[index] = BigInt(ptr(buffer))
  return { pointers, buffers }
}
