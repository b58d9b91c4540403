import { DiskFault } from '../../core/errors.ts'

/** An error on its way between threads, which keep only its texts. */
export interface Fault {
  readonly error: string
  /** SQLite's own word, such as `SQLITE_FULL`; empty when it is not SQLite's error. */
  readonly code: string
}

export const faultOf = (error: unknown): Fault => ({
  error: error instanceof Error ? error.message : 'write failed',
  code: String((error as { code?: unknown } | null)?.code ?? ''),
})

const DISK = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|CORRUPT|NOTADB)(_|$)/

/** The error of a writer who is told that `fault` happened. */
export function errorOf({ error, code }: Fault): Error {
  const family = DISK.exec(code)?.[1]
  if (family === undefined) return new Error(error)
  return new DiskFault(family === 'FULL' ? 'disk_full' : 'disk_error', code, error)
}
