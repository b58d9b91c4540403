import { existsSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DiskFault } from '../core/errors.ts'
import { makeFolder } from '../core/private-files.ts'
import { codeOf, FULL } from './operator-error.ts'

/**
 * Uploads and pages that wait to be read: private files in the data folder, one for each source.
 * They are written as they arrive, so that no upload is held in memory.
 */
export function openSpool(dataDir: string) {
  const folder = resolve(dataDir, 'spool')
  const pathOf = (id: string) => join(folder, id)
  makeFolder(folder)
  const found: readonly string[] = readdirSync(folder)

  /** As `syncToDisk`, off the event loop. */
  async function syncFolder(): Promise<void> {
    const handle = await open(folder, 'r')
    await handle.sync().finally(() => handle.close())
  }

  return {
    /** The ids of the files that an earlier server left behind. */
    found,

    /**
     * Writes a file; resolves with its size once it is on disk. Removes it after a failure. Throws
     * `DiskFault` when the disk is full.
     */
    async write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
      let size = 0
      try {
        const file = await open(pathOf(id), 'w', 0o600)
        try {
          for await (const piece of bytes) {
            await file.writeFile(piece)
            size += piece.length
          }
          await file.sync()
        } finally {
          await file.close()
        }
        await syncFolder()
        return size
      } catch (error) {
        rmSync(pathOf(id), { force: true })
        if (!FULL.has(codeOf(error))) throw error
        throw new DiskFault('disk_full', codeOf(error), 'an upload could not be written')
      }
    },

    map: (id: string): Uint8Array => Bun.mmap(pathOf(id), { shared: false }),

    file: (id: string) => ({ path: pathOf(id) }),

    has: (id: string): boolean => existsSync(pathOf(id)),

    remove: (id: string): void => rmSync(pathOf(id), { force: true }),
  }
}

export type Spool = ReturnType<typeof openSpool>
