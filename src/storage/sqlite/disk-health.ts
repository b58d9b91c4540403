import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFault } from '../../core/errors.ts'

export type Trouble = DiskFault['trouble']

/** A disk with this much room takes what a request writes. */
const ROOM_BYTES = 1024 * 1024

/**
 * Keeps in mind what the last write to the file at `path` met. When nobody writes, nobody would
 * hear that it has passed: `now` looks at the room on the disk, or makes the `trial`, a write that
 * means nothing.
 */
export function createTrouble(path: string, trial: () => Promise<unknown>) {
  let met: Trouble | null = null

  return {
    refused(error: unknown): void {
      if (error instanceof DiskFault) met = error.trouble
    },
    written(): void {
      met = null
    },
    async now(): Promise<Trouble | null> {
      if (met === 'disk_error') await trial().catch(() => {})
      if (met === 'disk_full' && roomAt(dirname(path)) >= ROOM_BYTES) met = null
      return met
    },
  }
}

export type TroubleWatch = ReturnType<typeof createTrouble>

function roomAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
