import { appError } from '../core/errors.ts'
import { BODY_MS_MAX, IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import type { RequestMemory } from './request-memory.ts'

/** The part of a listening server that closes connections. */
export interface Connections {
  timeout(request: Request, seconds: number): void
}

/**
 * Called with 0 before the first chunk of a body and with the size of each chunk. Throws 400 when
 * the body takes too long, and 503 when there is no memory for it.
 */
export type BodyTimer = (bytes: number) => void

export interface BodyTimerOptions {
  /** Milliseconds on the steady clock. */
  readonly steady: () => number
  readonly memory: Pick<RequestMemory, 'add'>
  readonly stallSeconds?: number
  readonly bodyMsMax?: number
}

/**
 * Resets the idle timeout on every chunk, up to a total limit. Authenticated requests only. Without
 * it Bun counts from the last byte that it sent, and closes a slow upload in the middle.
 */
export function createBodyTimers(options: BodyTimerOptions) {
  const { steady, memory, stallSeconds = IDLE_SECONDS_MAX, bodyMsMax = BODY_MS_MAX } = options
  return (request: Request, server: Connections | null, owner: string): BodyTimer => {
    const since = steady()
    return (bytes) => {
      if (steady() - since > bodyMsMax) throw appError('body_too_slow')
      if (bytes > 0) memory.add(request, owner, bytes)
      server?.timeout(request, stallSeconds)
    }
  }
}

/**
 * Runs `work` with the idle timeout disabled and restores it afterwards, so that the connection of
 * a dead client is still closed.
 */
export async function withoutIdleTimeout<Result>(
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
