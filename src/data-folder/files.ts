import { closeSync, fsyncSync, openSync, statfsSync, statSync } from 'node:fs'

/** Flushes a file, or the names in a folder, to the disk. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Null when nothing is at `path`, or part of it is a file. */
export function statOrNull(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null
    throw error
  }
}

/** A time as part of a file name, such as `20261121T093000Z`. */
export const fileStamp = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '')

/** Network file systems by their number (Linux, statfs(2)). */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  12805120: 'Ceph',
  1397113167: 'AFS',
}

/**
 * The kind of network file system that holds the folder, or null. Network file systems lack the
 * shared-memory mapping that SQLite's log needs, and often locks.
 */
export function networkDisk(folder: string, type = typeAt(folder)): string | null {
  return NETWORK[type >>> 0] ?? null
}

function typeAt(folder: string): number {
  try {
    return statfsSync(folder).type
  } catch {
    return 0
  }
}
