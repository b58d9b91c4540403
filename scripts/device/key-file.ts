import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Paired } from './server.ts'

export interface Kept extends Paired {
  /** The server that issued the key; the key is sent to no other. */
  readonly server: string
}

/** The key of this device, in a file with mode 0600. */
export function createKeyFile(path: string) {
  return {
    path,
    /** Null without a file. Throws for a malformed file and for a key of another server. */
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
     * Stores the key that `activate` returns. Creates the file first: a code works once, so a key
     * that cannot be stored would be lost.
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
    // Reported below, without the content of the file.
  }
  throw new Error(`${path} is not the key file of a device. Name another with --key-file.`)
}
