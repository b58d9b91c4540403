import type { Server } from '../../test/support/server.ts'

/** A load of some minutes on one server. */
export interface Scenario {
  /** Settings of the server. */
  readonly env: Readonly<Record<string, string>>
  /** The limit of the server's resident memory. */
  readonly residentMibMax: number
  /** Starts the load on running servers of one database; `headers` carry a general key. */
  start(servers: readonly Server[], headers: Readonly<Record<string, string>>): Promise<Running>
  /** Stops everything that the scenario has started. */
  close(): Promise<void>
}

export interface Running {
  /** The progress, as one line. */
  progress(): string
  /** Stops the load; resolves with the failures as sentences. */
  stop(): Promise<readonly string[]>
}
