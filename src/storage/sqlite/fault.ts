import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
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

export type DiskTrouble = DiskFault['trouble']

/** A disk with this much free space takes what a request writes. */
const FREE_BYTES_MIN = 1024 * 1024

/** A damaged page does not mend itself, and a write to another page proves nothing about it. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/

/**
 * Remembers how the last write to the file at `path` failed. Without traffic that would stay, so
 * `trouble` looks at the free space, or calls `probeWrite`, a write that stores nothing. Damage is
 * remembered until the process ends.
 */
export function createDiskHealth(path: string, probeWrite: () => Promise<unknown>) {
  let last: DiskTrouble | null = null
  let damaged = false

  return {
    failed(error: unknown): void {
      if (!(error instanceof DiskFault)) return
      last = error.trouble
      damaged ||= DAMAGED.test(error.code)
    },
    written(): void {
      last = null
    },
    async trouble(): Promise<DiskTrouble | null> {
      if (damaged) return 'disk_error'
      if (last === 'disk_error') await probeWrite().catch(() => {})
      if (last === 'disk_full' && freeBytes(dirname(path)) >= FREE_BYTES_MIN) last = null
      return last
    },
  }
}

export type DiskHealth = ReturnType<typeof createDiskHealth>

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
