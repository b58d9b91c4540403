import { dlopen, FFIType, ptr } from 'bun:ffi'

type Env = Readonly<Record<string, string | undefined>>

const C_LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const SYMBOLS = {
  execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 },
} as const

function withLibrary(use: (symbols: ReturnType<typeof openLibrary>) => void): void {
  for (const library of C_LIBRARIES) {
    try {
      use(openLibrary(library))
    } catch {
      // This machine has another C library.
    }
  }
}

const openLibrary = (library: string) => dlopen(library, SYMBOLS).symbols

/** Replaces this process by another program (execve(2)), and returns only when that fails. */
export function replaceProcess(program: string, args: readonly string[], env: Env): void {
  const pairs = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  withLibrary(({ execve }) => {
    const [path, argv, vars] = [cString(program), cStrings([program, ...args]), cStrings(pairs)]
    execve(ptr(path), ptr(argv.pointers), ptr(vars.pointers))
  })
}

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * Has the system kill this process as soon as its parent ends, however that ends (prctl(2)); holds
 * for the program that replaces it, too. Only Linux can.
 */
export function dieWithParent(): void {
  withLibrary(({ prctl }) => void prctl(PR_SET_PDEATHSIG, SIGKILL))
}

const cString = (text: string) => Buffer.from(`${text}\0`)

/** A null-terminated array of C strings; `buffers` keeps the memory alive during the call. */
function cStrings(texts: readonly string[]) {
  const buffers = texts.map(cString)
  const pointers = new BigUint64Array(buffers.length + 1)
  for (const [index, buffer] of buffers.entries()) pointers[index] = BigInt(ptr(buffer))
  return { pointers, buffers }
}
