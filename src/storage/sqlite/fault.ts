import { DiskFault } from '../../core/errors.ts'

/** An error as it travels between threads, which would keep only its message. */
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

/** The fault as one of the disk; null for any other, such as a wrong statement. */
export function diskFaultOf({ error, code }: Fault): DiskFault | null {
  const family = DISK.exec(code)?.[1]
  if (family === undefined) return null
  return new DiskFault(family === 'FULL' ? 'disk_full' : 'disk_error', code, error)
}

export const errorOf = (fault: Fault): Error => diskFaultOf(fault) ?? new Error(fault.error)
