import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFault } from '../../core/errors.ts'

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
