import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'

/** What sending a request needs of its call. */
export type Asking = Pick<Call, 'signal' | 'waiting' | 'explain'>

/**
 * The life of one upstream request. Its `signal` goes to `fetch` and aborts when the caller aborts,
 * when the upstream is silent for too long, and when the call is closed. One timer serves the whole
 * stream: it looks at the last activity and re-arms itself, so a read costs no timer of its own.
 */
export class Call {
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #controller = new AbortController()
  #limitMs: number
  #waitingSince: number | null
  #gotBytes = false
  #silent = false
  #disarm: () => void

  /** Throws the caller's reason when the caller has aborted. */
  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal) {
    caller.throwIfAborted()
    this.#clock = clock
    this.#caller = caller
    this.#limitMs = timeoutMs
    this.#waitingSince = clock.steady()
    this.#disarm = clock.after(timeoutMs, this.#check)
    caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the upstream was given up for its silence. */
  get isSilent(): boolean {
    return this.#silent
  }

  /** The upstream is being waited for from now on. */
  waiting(): void {
    this.#waitingSince = this.#clock.steady()
  }

  /** Bytes of the answer have come. */
  arrived(): void {
    this.#waitingSince = null
    this.#gotBytes = true
  }

  /** Lowers the silence limit for the rest of the stream. */
  hurry(ms: number): void {
    if (ms >= this.#limitMs) return
    this.#limitMs = ms
    this.#disarm()
    this.#disarm = this.#clock.after(ms, this.#check)
  }

  /** What an error of `fetch` or of a read means: the caller's own reason, or a failure. */
  explain(error: unknown): unknown {
    if (this.#caller.aborted) return this.#caller.reason
    if (error instanceof ChannelFailure) return error
    if (this.#gotBytes) {
      const phrase = this.#silent ? 'stream went silent' : 'connection broken'
      return new ChannelFailure('provider_error', phrase, { cause: error })
    }
    const phrase = this.#silent ? 'timed out' : 'connection failed'
    return new ChannelFailure('retry_exhausted', phrase, { retryable: true, cause: error })
  }

  /** Throws the caller's reason when the caller has aborted. */
  throwIfAborted(): void {
    this.#caller.throwIfAborted()
  }

  /** Releases timer and listener. Ends the request, unless its body was read to the end. */
  close(complete = false): void {
    this.#disarm()
    this.#caller.removeEventListener('abort', this.#onAbort)
    if (!complete) this.#controller.abort()
  }

  readonly #onAbort = () => this.#controller.abort(this.#caller.reason)

  // Time that the consumer takes between two reads is not the upstream's silence.
  readonly #check = (): void => {
    const since = this.#waitingSince
    const idleMs = since === null ? 0 : Math.max(0, this.#clock.steady() - since)
    if (idleMs < this.#limitMs) {
      this.#disarm = this.#clock.after(this.#limitMs - idleMs, this.#check)
      return
    }
    this.#silent = true
    this.#controller.abort()
  }
}
