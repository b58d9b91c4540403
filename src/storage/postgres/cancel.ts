import { connect } from 'node:net'
import type { Client } from 'pg'
import type { Clock } from '../../core/clock.ts'

const CANCEL_REQUEST = 80_877_102
const SEND_MS_MAX = 5_000

/** Where the server of a connection waits for requests to stop, and its secret. */
interface Key {
  readonly processID: number
  readonly secretKey: number
}

/**
 * Asks the server to stop what it does for a connection, by a connection of its own, as the
 * protocol has it. Returns false when there is nobody to ask. It is only a request: a pooler or the
 * network may lose it.
 */
export function createCancel({ connection, host, port }: Client, clock: Clock): () => boolean {
  let key: Key | null = null
  connection.once('backendKeyData', (told: Key) => {
    key = told
  })
  return () => {
    if (key === null) return false
    const message = Buffer.alloc(16)
    const words = [message.length, CANCEL_REQUEST, key.processID, key.secretKey]
    for (const [index, word] of words.entries()) message.writeInt32BE(word | 0, index * 4)
    const socket = host.startsWith('/')
      ? connect(`${host}/.s.PGSQL.${port}`)
      : connect({ host, port })
    const late = clock.after(SEND_MS_MAX, () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', late)
    socket.end(message)
    return true
  }
}
