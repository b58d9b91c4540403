import type { Server } from '../../test/support/server.ts'

/** A load for minutes on one server. */
export interface Scenario {
  /** Settings of the server. */
  readonly env: Readonly<Record<string, string>>
  /** Resident memory that the server must never go beyond. */
  readonly residentMibMax: number
  /** Begins the load on a running server whose general key is `headers`. */
  start(server: Server, headers: Readonly<Record<string, string>>): Promise<Running>
  /** Ends what the scenario itself has started. */
  close(): Promise<void>
}

export interface Running {
  /** What was done so far, for one line. */
  progress(): string
  /** Stops asking; resolves with what went wrong, in words. */
  stop(): Promise<readonly string[]>
}
