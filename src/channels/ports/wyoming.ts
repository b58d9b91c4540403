/** Wyoming, the voice protocol of Home Assistant, as a server speaks it. */
export interface WyomingEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly payload: Uint8Array
}

/** The client at the other end of a connection. */
export interface WyomingPeer {
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
  /** Resolves when the client takes more; rejects with the signal's reason when it has left. */
  send(type: string, data?: Readonly<Record<string, unknown>>, payload?: Uint8Array): Promise<void>
  /** Closes the connection, once what was sent has arrived. */
  close(): void
}

/** Takes the events of one connection, each when the one before it is done. Must not reject. */
export type WyomingHandler = (event: WyomingEvent) => Promise<void>

export interface WyomingServer {
  readonly port: number
  /** Connections whose events are being worked on. */
  busy(): number
  /** Takes no more connections, and closes those that have nothing to do. */
  stop(): void
  /** Closes all connections. */
  close(): void
}
