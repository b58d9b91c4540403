import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Paired } from './server.ts'

export interface Kept extends Paired {
  /** Where the key came from, and the only place it may go to. */
  readonly server: string
}

/** The key of this device, in a file that nobody else may read (mode 0600). */
export function createKeyFile(path: string) {
  return {
    path,
    /** Null without a file. Throws for one that is no key file, or is another server's. */
    read(server: string): Kept | null {
      if (!existsSync(path)) return null
      const kept = parse(path)
      if (kept.server !== server) {
        throw new Error(
          `${path} holds the key for ${kept.server}, which is not sent to ${server}. ` +
            'Name another file with --key-file.',
        )
      }
      chmodSync(path, 0o600)
      return kept
    },
    /**
     * Keeps what `activate` gives. The file is made first: a code works once, and a key that cannot
     * be kept would be lost with it.
     */
    async fill(server: string, activate: () => Promise<Paired>): Promise<Kept> {
      const fresh = `${path}.${process.pid}.new`
      writeFileSync(fresh, '', { mode: 0o600, flag: 'wx' })
      try {
        const { device_id, key, app_id } = await activate()
        const kept = { server, device_id, key, app_id }
        writeFileSync(fresh, `${JSON.stringify(kept)}\n`)
        renameSync(fresh, path)
        return kept
      } catch (error) {
        rmSync(fresh, { force: true })
        throw error
      }
    },
  }
}

export type KeyFile = ReturnType<typeof createKeyFile>

function parse(path: string): Kept {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Partial<Kept>
    const { server, device_id, key, app_id = null } = kept
    if (server && device_id && key) return { server, device_id, key, app_id }
  } catch {
    // Told below, without quoting what the file holds.
  }
  throw new Error(`${path} is not the key file of a device. Name another with --key-file.`)
}
