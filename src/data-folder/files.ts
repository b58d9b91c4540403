import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'

/** Flushes a file, or the names in a folder, to the disk. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Null when nothing is there, or can be, below a file. */
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
