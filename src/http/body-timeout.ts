import { appError } from '../core/errors.ts'
import { BODY_MS_MAX, IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import type { BodyRoom } from './body-room.ts'

/** The part of a listening server that closes connections. */
export interface Connections {
  timeout(request: Request, seconds: number): void
}

/**
 * To be called when the wait for a body begins, and with the size of each piece of it. Throws 400
 * when it takes too long, and 503 when there is no room for it.
 */
export type Patience = (bytes: number) => void

export interface PatienceOptions {
  /** Milliseconds that only go forward. */
  readonly steady: () => number
  readonly room: Pick<BodyRoom, 'take'>
  readonly stallSeconds?: number
  readonly bodyMsMax?: number
}

/**
 * How long a body may take. The server counts the time of a connection from the last thing that it
 * sent, so a slow upload would end in the middle however steadily it comes. Here the time begins
 * anew with each piece, up to a limit for the whole body: whoever stalls is cut as before, and
 * nobody holds a connection for ever with a byte a minute. For known senders only.
 */
export function createPatience(options: PatienceOptions) {
  const { steady, room, stallSeconds = IDLE_SECONDS_MAX, bodyMsMax = BODY_MS_MAX } = options
  return (request: Request, server: Connections | null, owner: string): Patience => {
    const since = steady()
    return (bytes) => {
      if (steady() - since > bodyMsMax) throw appError('body_too_slow')
      if (bytes > 0) room.take(request, owner, bytes)
      server?.timeout(request, stallSeconds)
    }
  }
}

/**
 * Does what may take minutes while nothing moves on the connection. Afterwards it counts as idle
 * again like any other, or a client that is switched off would leave it behind for ever.
 */
export async function unhurried<Result>(
  request: Request,
  server: Connections | null,
  work: () => Promise<Result>,
): Promise<Result> {
  server?.timeout(request, 0)
  try {
    return await work()
  } finally {
    server?.timeout(request, IDLE_SECONDS_MAX)
  }
}

export type PatienceFor = ReturnType<typeof createPatience>
