import type { Awaitable, OpenWindows } from '../core/rate-windows.ts'
import type { Statement } from './db.ts'

/**
 * The first statements of the transaction that stores a turn. They make it fail when the turn is no
 * longer the next one of its session, for example because this server was taken for dead.
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
  /** Calls the listener when turns of dead processes were given up, before the next one runs. */
  onGivenUp(listener: (tenantId: string, sessionId: string) => Promise<void>): void
}

/**
 * Values by name that are taken once and expire. Callers pass hashes of codes, as names or as
 * values: where several processes share them, they lie on a disk as they were passed.
 */
export interface OneTimeCodes {
  /** Keeps a value, in place of one of the same name. `owner` is the caller that it counts for. */
  put(name: string, value: string, owner?: string): Awaitable<void>
  /** The value, without removing it; null when there is none. */
  read(name: string): Awaitable<string | null>
  /** Removes the value and returns it; of simultaneous callers only one gets it. */
  take(name: string): Awaitable<string | null>
  /** The value, for one of the first `triesMax` tries; null for a later one. */
  attempt(name: string, triesMax: number): Awaitable<string | null>
}

export interface CodeLife {
  readonly ttlMs: number
  /** Beyond it the owner with the most codes loses its oldest: one owner's flood hits its own. */
  readonly countMax: number
  /** Beyond it an owner loses its oldest; absent: as many as there may be in all. */
  readonly perOwnerMax?: number
}

/** Opens the codes of one kind; `kind` keeps them apart from others in a shared database. */
export type OpenCodes = (kind: string, life: CodeLife) => OneTimeCodes

/** A name that is held until it is released, or until another process takes it over. */
export interface Lease {
  release(): Promise<void>
}

/** Decides which process does a piece of work. */
export interface Leases {
  /**
   * Runs `work` unless work of this name is under way; then it resolves with false. The signal of
   * `work` aborts with `signal` and when the lease is lost.
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
  /** Those of them whose process is not silent, as the order of turns sees it. */
  heldByLiving(prefix: string): Promise<string[]>
}

/** Names of the leases under which a process stores something step by step. */
export const leaseName = {
  source: (id: string) => `source ${id}`,
  scan: (tenantId: string, slot: number) => `scan ${tenantId} ${slot}`,
  import: (tenantId: string) => `import ${tenantId}`,
  branch: (id: string) => `branch ${id}`,
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
  /** A person has enough of the answer of this turn. */
  | 'turn stopped'
  /** This session was deleted, whose turns end. */
  | 'talk deleted'
  /** This source was deleted, or its version overtaken: the work on it ends. */
  | 'source deleted'
  /** A person has canceled this run. */
  | 'run canceled'
  /** A mail `failed` or `went`. */
  | 'mail'

export interface Announcer {
  /** Announces the subject to all other processes, within a second. */
  announce(topic: Topic, subject: string): Promise<void>
  /**
   * Calls `hear` with the subjects that other processes announce, again and again until it
   * succeeds.
   */
  on(topic: Topic, hear: (subject: string) => Promise<unknown>): void
  /** Calls `look` every few seconds, for what must not depend on an announcement alone. */
  watch(look: () => Promise<unknown>): void
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
