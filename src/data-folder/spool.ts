import { existsSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DiskFault } from '../core/errors.ts'
import { makeFolder } from '../core/private-files.ts'
import { codeOf, FULL } from './operator-error.ts'

/**
 * Uploads and pages that wait to be read: private files in the data folder, one a source. They are
 * written as they arrive, so that no upload lies in memory.
 */
export function openSpool(dataDir: string) {
  const folder = resolve(dataDir, 'spool')
  const pathOf = (id: string) => join(folder, id)
  makeFolder(folder)
  const found: readonly string[] = readdirSync(folder)

  /** As `syncToDisk`, beside the event loop. */
  async function syncFolder(): Promise<void> {
    const handle = await open(folder, 'r')
    await handle.sync().finally(() => handle.close())
  }

  return {
    /** The ids of the files that an earlier server left behind. */
    found,

    /**
     * Writes a file; it is on the disk when this resolves with its size. Nothing is left of one
     * that fails. Throws `DiskFault` when the disk is full.
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
