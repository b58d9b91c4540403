import type { KeyFile } from './key-file.ts'
import { Refused } from './refusal.ts'
import type { Server } from './server.ts'

export interface PairingOptions {
  readonly server: Server
  readonly keyFile: KeyFile
  readonly code: string | undefined
  readonly say: (text: string) => void
}

const ABOUT = { firmware: 'simulated 1.0.0', hw_model: 'Moonbase device script' }

export class NotPaired extends Error {}

/**
 * Pairs the device: by its stored key, or by exchanging the code. A valid stored key takes
 * precedence over a code, so that the same command can be started again.
 */
export async function pair({ server, keyFile, code, say }: PairingOptions): Promise<void> {
  const kept = keyFile.read(server.origin)
  if (kept !== null) {
    server.useKey(kept.key)
    try {
      await beat(server)
      say(`Going on as device ${kept.device_id}.`)
      return
    } catch (error) {
      const over = error instanceof Refused && error.status === 401
      if (!over || code === undefined) throw error
      say('The kept key is no longer valid; pairing again.')
    }
  }
  if (code === undefined) {
    throw new NotPaired(
      'This device is not paired. Register it in the console (Devices) and give its code ' +
        'with --code.',
    )
  }
  server.useKey(null)
  const made = await keyFile.fill(server.origin, () => server.activate(code))
  server.useKey(made.key)
  await beat(server)
  say(`Paired as device ${made.device_id}; its key is in ${keyFile.path}.`)
}

export const beat = (server: Server) => server.heartbeat(ABOUT)
