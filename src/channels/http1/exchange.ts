import { UPSTREAM_WAITING_BYTES_MAX } from '../../core/limits/upstream.ts'
import type { ReadResult } from '../net/endpoint.ts'
import { type ResponseHead, ResponseParser, type ResponseSink } from './response-parser.ts'

/** What an exchange needs of the connection that carries it. */
export interface Carrier {
  pause(): void
  resume(): void
  /** The response is whole; `reusable`: nothing stands against another one. */
  release(reusable: boolean): void
  /** Ends the connection. */
  destroy(): void
}

const END: ReadResult = { done: true }

/**
 * One response on its way from a connection to whoever reads it. What came at once is read at once,
 * and a reader that is slow stops the connection, so that little waits here.
 */
export class Exchange implements ResponseSink {
  readonly #carrier: Carrier
  readonly #signal: AbortSignal | null
  readonly #parser = new ResponseParser(this)
  /** Null when the head has come: nothing of it is kept as long as the body may take. */
  #head: PromiseWithResolvers<ResponseHead> | null = Promise.withResolvers()
  #reading: PromiseWithResolvers<ReadResult> | null = null
  #pieces: Uint8Array[] = []
  #bytes = 0
  #paused = false
  #ended = false
  #begun = false
  #fault: unknown = null

  constructor(carrier: Carrier, signal: AbortSignal | null) {
    this.#carrier = carrier
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort)
  }

  /** To be asked for before it comes. Rejects when the connection ends before. */
  answered(): Promise<ResponseHead> {
    return this.#head?.promise ?? Promise.reject(new Error('the head has come already'))
  }

  /** Whether any of the response has come. */
  get begun(): boolean {
    return this.#begun
  }

  /** Bytes of the connection. */
  arrived(bytes: Buffer): void {
    if (this.#fault !== null) return
    this.#begun = true
    try {
      this.#parser.push(bytes)
    } catch (error) {
      this.fail(error)
      return
    }
    this.#deliver()
  }

  /** The connection was closed by the other side. */
  closed(): void {
    if (this.#fault !== null) return
    try {
      this.#parser.close()
      this.#deliver()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends the exchange with its connection, unless the response is whole. What came is read yet. */
  fail(error: unknown): void {
    if (this.#ended || this.#fault !== null) return
    this.#fault = error ?? new Error('connection ended')
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#head?.reject(this.#fault)
    this.#deliver()
    this.#carrier.destroy()
  }

  head(head: ResponseHead): void {
    this.#head?.resolve(head)
    this.#head = null
  }

  body(bytes: Uint8Array): void {
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
  }

  end(reusable: boolean): void {
    this.#ended = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#carrier.release(reusable)
  }

  /** The next bytes. Rejects when the connection ended before the response was whole. */
  read(): Promise<ReadResult> {
    const ready = this.#take()
    if (ready) return Promise.resolve(ready)
    if (this.#fault !== null) return Promise.reject(this.#fault)
    this.#reading = Promise.withResolvers()
    return this.#reading.promise
  }

  /** Whoever reads has seen enough: what has not come yet is called off with its connection. */
  async cancel(): Promise<void> {
    this.#pieces = []
    this.#bytes = 0
    this.fail(new Error('cancelled'))
  }

  readonly #onAbort = () => this.fail(this.#signal?.reason)

  /** Hands what has come to a reader that waits, or stops the connection when much waits. */
  #deliver(): void {
    const reading = this.#reading
    if (reading) {
      const ready = this.#take()
      if (!ready && this.#fault === null) return
      this.#reading = null
      if (ready) reading.resolve(ready)
      else reading.reject(this.#fault)
    } else if (this.#bytes > UPSTREAM_WAITING_BYTES_MAX && !this.#paused && !this.#ended) {
      this.#paused = true
      this.#carrier.pause()
    }
  }

  /** Null while there is nothing to tell yet, and after a fault. */
  #take(): ReadResult | null {
    const [first] = this.#pieces
    if (first === undefined) return this.#ended ? END : null
    const value = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#bytes = 0
    if (this.#paused) {
      this.#paused = false
      if (!this.#ended) this.#carrier.resume()
    }
    return { done: false, value }
  }
}
