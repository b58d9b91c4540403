import type { Socket } from 'bun'
import { type Carrier, Exchange } from './exchange.ts'

/** Seconds that a connection waits for another request; common servers give up after five. */
const IDLE_SECONDS = 4

/** Where a connection leads. */
export interface Destination {
  readonly hostname: string
  readonly port: number
  /** By TLS; the certificate is to be that of `hostname`. */
  readonly secured: boolean
}

/** Told once each time that a connection is free for another request. */
export type OnFree = (connection: Connection) => void

/** A connection to an upstream that carries one exchange after another (RFC 9112, section 9). */
export class Connection implements Carrier {
  readonly #onFree: OnFree
  /** Null when it is open. */
  #ready: PromiseWithResolvers<void> | null = Promise.withResolvers()
  #socket: Socket<Connection> | null = null
  #exchange: Exchange | null = null
  #unsent: Buffer | null = null
  #closed = false

  constructor(onFree: OnFree) {
    this.#onFree = onFree
    // Nobody may be waiting any more when it fails.
    this.#ready?.promise.catch(() => {})
  }

  /** Whether a request may be sent. */
  get isOpen(): boolean {
    return !this.#closed
  }

  /** Resolves with a connection that is open and, where it is secured, to whom it should be. */
  static async open(to: Destination, onFree: OnFree): Promise<Connection> {
    const connection = new Connection(onFree)
    const { hostname, port, secured } = to
    const socket = secured ? SECURED : PLAIN
    await Bun.connect({ hostname, port, tls: secured, data: connection, socket })
    await connection.#ready?.promise
    return connection
  }

  /** Sends a request; its response comes as the exchange, unless the signal aborts. */
  send(request: string, signal: AbortSignal | null): Exchange {
    const exchange = new Exchange(this, signal)
    this.#exchange = exchange
    this.#socket?.timeout(0)
    this.#socket?.ref()
    this.#write(request, Buffer.byteLength(request))
    return exchange
  }

  /** The socket takes more of a request again. */
  drained(): void {
    const unsent = this.#unsent
    if (unsent) this.#write(unsent, unsent.length)
  }

  /** The socket takes as much as its buffer holds, and says when it takes more. */
  #write(data: string | Buffer, bytes: number): void {
    const sent = this.#socket?.write(data) ?? -1
    if (sent < 0) this.ended(new Error('connection closed'))
    else this.#unsent = sent < bytes ? Buffer.from(data).subarray(sent) : null
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  release(reusable: boolean): void {
    this.#exchange = null
    // An upstream that answers before it has read the request will take its rest for the next one.
    if (!reusable || this.#unsent || this.#closed) {
      this.destroy()
      return
    }
    this.#socket?.timeout(IDLE_SECONDS)
    // A program that has nothing else to do may end.
    this.#socket?.unref()
    this.#onFree(this)
  }

  destroy(): void {
    this.#closed = true
    this.#unsent = null
    this.#socket?.terminate()
  }

  opened(socket: Socket<Connection>): void {
    this.#socket = socket
    if (this.#closed) socket.terminate()
  }

  ready(): void {
    this.#ready?.resolve()
    this.#ready = null
  }

  arrived(bytes: Buffer): void {
    // Nobody asked: what follows such bytes cannot be told from an answer.
    if (this.#exchange) this.#exchange.arrived(bytes)
    else this.destroy()
  }

  /** The connection is gone; `fault` when it did not just close. */
  ended(fault: unknown): void {
    this.#closed = true
    this.#ready?.reject(fault ?? new Error('connection closed'))
    const exchange = this.#exchange
    this.#exchange = null
    if (!exchange) return
    if (fault) exchange.fail(fault)
    else exchange.closed()
  }
}

const PLAIN: Bun.SocketHandler<Connection> = {
  open(socket) {
    socket.data.opened(socket)
    socket.data.ready()
  },
  data: (socket, bytes) => socket.data.arrived(bytes),
  drain: (socket) => socket.data.drained(),
  close: (socket, fault) => socket.data.ended(fault),
  error: (socket, fault) => socket.data.ended(fault),
  timeout: (socket) => socket.data.destroy(),
}

const SECURED: Bun.SocketHandler<Connection> = {
  ...PLAIN,
  open: (socket) => socket.data.opened(socket),
  handshake(socket, success, fault) {
    // No byte of a request leaves before the other side has shown who it is.
    if (success && socket.authorized) return socket.data.ready()
    socket.data.ended(fault ?? new Error('certificate refused'))
    socket.terminate()
  },
}
