import type { Clock } from '../core/clock.ts'
import { createOneTimeCodes, type OpenCodes } from '../core/one-time-codes.ts'
import { createRateWindows, type OpenWindows } from '../core/rate-windows.ts'
import { createSemaphore } from '../core/semaphore.ts'
import type { Statement } from './db.ts'

/**
 * The first statements of the transaction that stores a turn. They fail it when the turn has lost
 * its place, for example because its server was taken for dead.
 */
export type Fence = readonly Statement[]

/** Turns of one session run one after another, in the order in which they came. */
export interface TurnOrder {
  /** Rejects with the signal's reason when the signal aborts before the turn's time. */
  run<Result>(
    tenantId: string,
    sessionId: string,
    work: (fence: Fence) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>
}

/** A name that is held until it is released, or until another process takes it over. */
export interface Lease {
  release(): Promise<void>
}

/** Decides which of several processes does a piece of work. */
export interface Leases {
  /**
   * Runs `work` unless another process does work of this name; then it resolves with false. The
   * signal of `work` aborts with `signal` and when the lease is lost.
   */
  hold(
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<boolean>
  /** Takes the name over from any holder; calls `onLost` when another process takes it over. */
  seize(name: string, onLost: () => void): Lease
  /** The names beginning with `prefix` that other processes hold. */
  heldElsewhere(prefix: string): Promise<string[]>
  /** The names beginning with `prefix` that any process holds. */
  held(prefix: string): Promise<string[]>
}

/** Names of the leases under which a process stores something step by step. */
export const leaseName = {
  source: (id: string) => `source ${id}`,
  import: (tenantId: string) => `import ${tenantId}`,
} as const

/** Files that any process may have to read. A process that has one on its own disk uses that. */
export interface SharedFiles {
  /** Once this resolves, any process can fetch the file. */
  keep(id: string, bytes: Uint8Array): Promise<void>
  /** Null when there is no such file. */
  fetch(id: string): Promise<AsyncIterable<Uint8Array> | null>
  remove(id: string): Promise<void>
}

/** What processes announce to each other. */
export type Topic =
  /** Credentials of this tenant were revoked. */
  | 'revoked'
  /** The settings of the whole server were changed. */
  | 'settings'

export interface Announcer {
  /** Announces the subject to all other processes, within a second. */
  announce(topic: Topic, subject: string): Promise<void>
  /** Calls `hear` with the subjects that other processes announce. */
  on(topic: Topic, hear: (subject: string) => Promise<unknown>): void
}

/** What all processes that serve one database must agree on. */
export interface SharedState {
  /** No other process writes to the database, so that rows may be kept in memory. */
  readonly isAlone: boolean
  readonly turnOrder: TurnOrder
  readonly openWindows: OpenWindows
  readonly openCodes: OpenCodes
  readonly leases: Leases
  readonly files: SharedFiles
  readonly announcer: Announcer
  close(): Promise<void>
}

/** The state of a server that is alone on its database: it lives in memory. */
export function createOwnState(clock: Pick<Clock, 'steady'>): SharedState {
  const sessions = createSemaphore({ perKey: 1 })
  return {
    isAlone: true,
    turnOrder: {
      run: (tenantId, sessionId, work, signal) =>
        sessions.run(`${tenantId}/${sessionId}`, () => work(NO_FENCE), signal),
    },
    openWindows: (_, windowMs) => createRateWindows(clock, windowMs),
    openCodes: (_, life) => createOneTimeCodes(clock, life),
    leases: {
      async hold(_, signal, work) {
        await work(signal)
        return true
      },
      seize: () => NO_LEASE,
      heldElsewhere: async () => [],
      held: async () => [],
    },
    files: { keep: async () => {}, fetch: async () => null, remove: async () => {} },
    announcer: { announce: async () => {}, on() {} },
    close: async () => {},
  }
}

const NO_FENCE: Fence = []
const NO_LEASE: Lease = { release: async () => {} }
