import { SSE_EVENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../ports/failure.ts'

const LF = 10
const CR = 13
const SPACE = 32
const utf8 = new TextDecoder()

/**
 * Turns the bytes of a `text/event-stream` into the `data` of its events (WHATWG HTML, section
 * "Server-sent events"). Only whole lines are decoded, so a character that is split between two
 * reads needs no state of its own. Event names, ids, retry times and comments are ignored.
 *
 * Throws `ChannelFailure` (`provider_error`) for a line or an event over `bytesMax`.
 */
export class SseDecoder {
  readonly #bytesMax: number
  #carried: Uint8Array[] | null = null
  #carriedBytes = 0
  #afterCr = false
  #data: string | null = null

  constructor(bytesMax = SSE_EVENT_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Memory that an unfinished line and the data of an unfinished event take. */
  get heldBytes(): number {
    return this.#carriedBytes + 2 * (this.#data?.length ?? 0)
  }

  /** Appends to `events` the data of every event that these bytes complete. */
  push(bytes: Uint8Array, events: string[]): void {
    const fresh = this.#afterCr && bytes[0] === LF ? bytes.subarray(1) : bytes
    if (bytes.length > 0) this.#afterCr = bytes[bytes.length - 1] === CR
    const text = this.#takeLines(fresh)
    if (text === null) return
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      if (end === at) {
        if (this.#data !== null) events.push(this.#data)
        this.#data = null
      } else if (text.startsWith('data:', at)) {
        this.#addData(text.slice(text.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5, end))
      } else if (end - at === 4 && text.startsWith('data', at)) {
        this.#addData('')
      }
      at = end + 1
    }
  }

  /** Data of an event whose closing blank line never came; null when there is none. */
  end(): string | null {
    const events: string[] = []
    this.push(Buffer.from('\n\n'), events)
    return events[0] ?? null
  }

  /** Whole lines, each with its end, joined with what was carried over; null: no line is whole. */
  #takeLines(bytes: Uint8Array): string | null {
    const end = lastLineEnd(bytes) + 1
    if (end === 0) {
      this.#carry(bytes)
      return null
    }
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end)
    const text = utf8.decode(
      this.#carried === null ? whole : Buffer.concat([...this.#carried, whole]),
    )
    this.#carried = null
    this.#carriedBytes = 0
    if (end < bytes.length) this.#carry(bytes.subarray(end))
    return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  }

  #carry(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#carriedBytes += bytes.length
    if (this.#carriedBytes > this.#bytesMax) throw tooLong()
    // A copy: the reader may reuse its buffer.
    this.#carried ??= []
    this.#carried.push(bytes.slice())
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`
    if (this.#data.length > this.#bytesMax) throw tooLong()
  }
}

function lastLineEnd(bytes: Uint8Array): number {
  if (bytes[bytes.length - 1] === LF) return bytes.length - 1
  return Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR))
}

const tooLong = () => new ChannelFailure('provider_error', 'event too large')
