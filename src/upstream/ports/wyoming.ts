/** An event of Wyoming, the voice protocol of Home Assistant. */
export interface WyomingEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly payload: Uint8Array
}

/** The client at the other end of a connection. */
export interface WyomingPeer {
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal
  /** Resolves when the client accepts more; rejects with the signal's reason. */
  send(type: string, data?: Readonly<Record<string, unknown>>, payload?: Uint8Array): Promise<void>
  /** Closes the connection, once what was sent has arrived. */
  close(): void
}

/** Handles the events of one connection, one after another. Must not reject. */
export type WyomingHandler = (event: WyomingEvent) => Promise<void>

export interface WyomingServer {
  readonly port: number
  /** Connections whose events are being handled. */
  busy(): number
  /** Accepts no more connections, and closes the idle ones. */
  stop(): void
  /** Closes all connections. */
  close(): void
}
