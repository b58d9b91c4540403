import { dlopen, FFIType } from 'bun:ffi'

type Env = Readonly<Record<string, string | undefined>>

/** Replaces this process by another program (execve(2)), and returns only when that fails. */
export function replaceProcess(program: string, args: readonly string[], env: Env): void {
  try {
    process.execve?.(program, [program, ...args], { ...env })
  } catch {
    // The caller goes on without.
  }
}

const C_LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const PRCTL = { prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } } as const
const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * Has the system kill this process as soon as its parent ends, however that ends (prctl(2)); holds
 * for the program that replaces it, too. Only Linux can.
 */
export function dieWithParent(): void {
  for (const library of C_LIBRARIES) {
    try {
      dlopen(library, PRCTL).symbols.prctl(PR_SET_PDEATHSIG, SIGKILL)
    } catch {
      // This machine has another C library.
    }
  }
}
