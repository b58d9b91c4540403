import { createParser } from 'eventsource-parser'
import { SSE_EVENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../ports/failure.ts'

/** Bytes that the parser takes for each read of an unfinished line, besides its text. */
const FRAGMENT_BYTES = 64
/** A character may be split between two reads. */
const MORE_FOLLOWS = { stream: true }
/** A line end and then a blank line. */
const BLANK_LINE = /(?:\n|\r(?!\n))(?:\r\n|\n|\r)$/
const BLANK_LINE_CHARS = 4

/**
 * Turns the bytes of a `text/event-stream` into the `data` of its events. Event names and comments
 * are left out; the last id and the retry time are kept apart.
 */
export class EventStream {
  readonly #utf8 = new TextDecoder()
  readonly #parser: ReturnType<typeof createParser>
  #events: string[] = []
  #heldBytes = 0
  /** The last characters that were read. */
  #tail = ''
  #ended = false
  #lastId: string | null = null
  #retryMs: number | null = null
  #tooLong = false

  constructor(charsMax = SSE_EVENT_BYTES_MAX) {
    this.#parser = createParser({
      maxBufferSize: charsMax,
      onEvent: ({ id, data }) => {
        this.#ended = true
        if (id !== undefined) this.#lastId = id
        if (data.length > charsMax) this.#tooLong = true
        else this.#events.push(data)
      },
      onRetry: (ms) => {
        this.#retryMs = ms
      },
      onComment: () => {
        this.#ended = true
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#tooLong = true
      },
    })
  }

  /** The id of the last event that had one, from which a client may resume. */
  get lastId(): string | null {
    return this.#lastId
  }

  /** How long a client is asked to wait before it comes back. */
  get retryMs(): number | null {
    return this.#retryMs
  }

  /** The most memory that an unfinished event can take. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Whether the last read ended an event, a comment or a blank line. Slow models send comments to
   * show that they are still there.
   */
  get ended(): boolean {
    return this.#ended
  }

  /**
   * Appends to `events` the data of every event that these bytes complete. Throws `ChannelFailure`
   * (`provider_error`) for an event over the limit, after it has appended those before.
   */
  push(bytes: Uint8Array, events: string[]): void {
    this.#feed(this.#utf8.decode(bytes, MORE_FOLLOWS), events)
  }

  /** Data of an event whose closing blank line never came; null when there is none. */
  end(): string | null {
    const events: string[] = []
    this.#feed(`${this.#utf8.decode()}\n\n`, events)
    return events[0] ?? null
  }

  #feed(text: string, events: string[]): void {
    if (this.#tooLong) throw tooLong()
    const before = events.length
    this.#events = events
    this.#ended = false
    this.#parser.feed(text)
    if (this.#endsBlank(text)) {
      this.#ended = true
      this.#heldBytes = 0
    } else {
      const size = 2 * text.length + FRAGMENT_BYTES
      this.#heldBytes = events.length > before ? size : this.#heldBytes + size
    }
    if (this.#tooLong) throw tooLong()
  }

  /** Whether what came so far ends with a blank line, so that no event is unfinished. */
  #endsBlank(text: string): boolean {
    if (text.endsWith('\n\n')) {
      this.#tail = '\n\n'
      return true
    }
    this.#tail = (this.#tail + text.slice(-BLANK_LINE_CHARS)).slice(-BLANK_LINE_CHARS)
    return BLANK_LINE.test(this.#tail)
  }
}

const tooLong = () => new ChannelFailure('provider_error', 'event too large')
