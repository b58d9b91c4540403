import { SSE_EVENT_BYTES_MAX } from '../core/limits.ts'
import { ChannelFailure } from './failure.ts'

export type SseDecoder = ReturnType<typeof createSseDecoder>

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
export function createSseDecoder(bytesMax = SSE_EVENT_BYTES_MAX) {
  let carried: Uint8Array[] = []
  let carriedBytes = 0
  let afterCr = false
  let data: string | null = null

  /** Whole lines, each with its end, joined with what was carried over; null: no line is whole. */
  function takeLines(bytes: Uint8Array): string | null {
    const end = lastLineEnd(bytes) + 1
    if (end === 0) {
      carry(bytes)
      return null
    }
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end)
    const text = utf8.decode(carriedBytes === 0 ? whole : Buffer.concat([...carried, whole]))
    if (carriedBytes > 0) {
      carried = []
      carriedBytes = 0
    }
    if (end < bytes.length) carry(bytes.subarray(end))
    return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  }

  function carry(bytes: Uint8Array): void {
    carriedBytes += bytes.length
    if (carriedBytes > bytesMax) throw tooLong()
    // A copy: the reader may reuse its buffer.
    if (bytes.length > 0) carried.push(bytes.slice())
  }

  function addData(value: string): void {
    data = data === null ? value : `${data}\n${value}`
    if (data.length > bytesMax) throw tooLong()
  }

  return {
    /** Appends to `events` the data of every event that these bytes complete. */
    push(bytes: Uint8Array, events: string[]): void {
      const fresh = afterCr && bytes[0] === LF ? bytes.subarray(1) : bytes
      if (bytes.length > 0) afterCr = bytes[bytes.length - 1] === CR
      const text = takeLines(fresh)
      if (text === null) return
      for (let at = 0; at < text.length; ) {
        const end = text.indexOf('\n', at)
        if (end === at) {
          if (data !== null) events.push(data)
          data = null
        } else if (text.startsWith('data:', at)) {
          addData(text.slice(text.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5, end))
        } else if (end - at === 4 && text.startsWith('data', at)) {
          addData('')
        }
        at = end + 1
      }
    },

    /** Data of an event whose closing blank line never came; null when there is none. */
    end(): string | null {
      const events: string[] = []
      this.push(Buffer.from('\n\n'), events)
      return events[0] ?? null
    },
  }
}

function lastLineEnd(bytes: Uint8Array): number {
  if (bytes[bytes.length - 1] === LF) return bytes.length - 1
  return Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR))
}

const tooLong = () => new ChannelFailure('provider_error', 'event too large')
