import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { Connection } from './connection.ts'

export interface PoolOptions {
  readonly clock: Clock
  readonly open: () => Connection
  /** Connections at a time. */
  readonly most: number
}

/** The longest wait for a connection that is free; then the database counts as away. */
const WAIT_MS_MAX = 30_000

/**
 * Connections that are used again. The freshest is used first, so that no more are kept in use than
 * are needed; one that was lost is forgotten.
 */
export function createPool({ clock, open, most }: PoolOptions) {
  const slots = createSemaphore({ slots: most })
  let idle: Connection[] = []
  let closed = false

  async function slot(): Promise<() => void> {
    const late = new AbortController()
    const reason = new DatabaseAway('busy', 'all connections to the database are in use')
    const cancel = clock.after(WAIT_MS_MAX, () => late.abort(reason))
    try {
      return await slots.acquire('', late.signal)
    } finally {
      cancel()
    }
  }

  return {
    /** Gives `work` a connection that nobody else uses meanwhile. */
    async use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
      if (closed) throw new Error('the database is closed')
      const release = await slot()
      idle = idle.filter((one) => one.isOpen())
      const connection = idle.pop() ?? open()
      try {
        return await work(connection)
      } finally {
        if (closed) await connection.close()
        else if (connection.isOpen()) idle.push(connection)
        release()
      }
    },
    inUse: slots.held,
    kept: () => idle.filter((one) => one.isOpen()).length,
    async close() {
      closed = true
      await Promise.all(idle.splice(0).map((one) => one.close()))
    },
  }
}

export type Pool = ReturnType<typeof createPool>
