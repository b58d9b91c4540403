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

type Work<Result> = (connection: Connection) => Promise<Result>

/** The longest wait for a free connection; then the database counts as away. */
const WAIT_MS_MAX = 30_000
/** Pause between failing attempts to connect: a database that is stopping waits for each. */
const PAUSE_MS = 250

/**
 * A pool of connections. The most recently used one is taken first, so that no more than needed
 * stay in use; a lost one is dropped.
 */
export function createPool({ clock, open, most }: PoolOptions) {
  const slots = createSemaphore({ slots: most })
  let idle: Connection[] = []
  let closed = false
  /** Attempts to connect that failed in a row, and when the last one was made. */
  let failures = 0
  let triedAt = Number.NEGATIVE_INFINITY

  async function slot(tenant: string): Promise<() => void> {
    const late = new AbortController()
    const reason = new DatabaseAway('busy', 'all connections to the database are in use')
    const cancel = clock.after(WAIT_MS_MAX, () => late.abort(reason))
    try {
      return await slots.acquire(tenant, late.signal)
    } finally {
      cancel()
    }
  }

  async function useIdle<Result>(connection: Connection, work: Work<Result>): Promise<Result> {
    try {
      return await work(connection)
    } finally {
      if (closed) await connection.close()
      else if (connection.isOpen()) idle.push(connection)
    }
  }

  async function useNew<Result>(work: Work<Result>): Promise<Result> {
    const now = clock.steady()
    if (failures > 1 && now - triedAt < PAUSE_MS) {
      throw new DatabaseAway('paused', 'the database takes no connections')
    }
    triedAt = now
    try {
      const result = await useIdle(open(), work)
      failures = 0
      return result
    } catch (error) {
      failures = error instanceof DatabaseAway ? failures + 1 : 0
      throw error
    }
  }

  return {
    /**
     * Gives `work` a connection that nobody else uses meanwhile; a new one when `isNew`, because
     * kept ones may be lost, too, and not know it yet. Tenants take turns.
     */
    async use<Result>(tenant: string, work: Work<Result>, isNew = false): Promise<Result> {
      if (closed) throw new Error('the database is closed')
      const release = await slot(tenant)
      idle = idle.filter((one) => one.isOpen())
      const connection = idle.pop()
      if (isNew) void connection?.close()
      try {
        return await (connection && !isNew ? useIdle(connection, work) : useNew(work))
      } finally {
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
