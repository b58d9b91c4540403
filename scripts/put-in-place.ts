import { existsSync, renameSync, rmSync } from 'node:fs'

/** A name beside a folder that nothing else has. */
export const besideOf = (folder: string): string => `${folder}.${crypto.randomUUID()}.tmp`

/** Puts a whole folder in the place of another, also while another process does the same. */
export function putInPlace(fresh: string, folder: string): void {
  while (existsSync(fresh)) {
    const before = besideOf(folder)
    try {
      if (existsSync(folder)) renameSync(folder, before)
      renameSync(fresh, folder)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      // The other one has just taken it away, or put its own there.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(code)) throw error
    } finally {
      rmSync(before, { recursive: true, force: true })
    }
  }
}
