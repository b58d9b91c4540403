import { UPSTREAM_HEAD_BYTES_MAX } from '../../core/limits/upstream.ts'
import { Fields } from './fields.ts'
import { chunkSize, contentLength, type Framing, framingOf, hexDigit } from './framing.ts'

export interface ResponseHead {
  readonly status: number
  readonly headers: Fields
}

/** Who is told what a response turns out to be. */
export interface ResponseSink {
  head(head: ResponseHead): void
  /** A piece of the body, without its framing; a view of the bytes that were pushed. */
  body(bytes: Uint8Array): void
  /** The response is whole; `reusable`: its connection may carry another. */
  end(reusable: boolean): void
}

const LF = 10
const CR = 13
const BLANK_LINE = '\r\n\r\n'
/** A single LF is a line's end as well (RFC 9112, section 2.2). */
const HEAD_END = /\n\r?\n/
/** Minor version, status, and the lines of the fields. */
const HEAD =
  /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n\0]*)?\r?\n((?:[!#$%&'*+.^_`|~\w-]+:[^\r\n\0]*\r?\n)*)$/
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
/** A piece that is larger than these tell is rare enough to be read as text. */
const PLAIN_DIGITS_MAX = 6

/**
 * Reads one HTTP/1.1 response from the bytes of a connection (RFC 9112). What is not clearly framed
 * is refused: on a connection that is used again, a wrong guess would give one caller the answer of
 * another. Heads, trailers and lines between pieces are bounded.
 */
export class ResponseParser {
  readonly #sink: ResponseSink
  #state: 'head' | Framing | 'done' = 'head'
  /** What of a head or of a line has come. */
  #text = ''
  /** Bytes of lines since the head or the last piece. */
  #lineBytes = 0
  #reusable = true
  /** Bytes of the body or of its piece that are still to come. */
  #left = 0
  /** Where the body lies in the bytes at hand. */
  #bodyFrom = 0
  #bodyTo = 0

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /**
   * Throws for what is no HTTP/1.1 response, and for bytes after its end; what came before is told
   * all the same. The bytes are the parser's from now on.
   */
  push(bytes: Buffer): void {
    this.#bodyFrom = 0
    this.#bodyTo = 0
    try {
      this.#read(bytes)
    } finally {
      this.#tellBody(bytes)
    }
  }

  #read(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      switch (this.#state) {
        case 'head':
          at = this.#readHead(bytes, at)
          break
        case 'sized':
        case 'chunk':
          at = this.#readCounted(bytes, at)
          break
        case 'chunk-size':
        case 'chunk-end':
          at = this.#readFraming(bytes, at)
          break
        case 'trailers':
          at = this.#readLine(bytes, at)
          break
        case 'until-close':
          this.#gather(bytes, at, bytes.length)
          return
        default:
          throw new Error('bytes after the response')
      }
    }
  }

  /** The connection was closed. Throws when that cuts the response. */
  close(): void {
    if (this.#state === 'until-close') this.#sink.end(false)
    else if (this.#state !== 'done') throw new Error('connection closed in the middle')
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#text.length
    // Most heads are here whole, and much of the body with them, which is not to become text.
    const blank = bytes.indexOf(BLANK_LINE, at)
    const whole = blank < 0 ? bytes.length : blank + BLANK_LINE.length
    const end = Math.min(whole, at + UPSTREAM_HEAD_BYTES_MAX)
    const text = this.#text + bytes.toString('latin1', at, end)
    const from = Math.max(0, before - 2)
    const ending = HEAD_END.exec(text.slice(from))
    const found = ending ? from + ending.index + ending[0].length : -1
    const length = found < 0 ? text.length : found
    if (length >= UPSTREAM_HEAD_BYTES_MAX) throw new Error('response head too large')
    if (found < 0) {
      this.#text = text
      return end
    }
    this.#text = ''
    const after = at + found - before
    this.#begin(text.slice(0, text.lastIndexOf('\n', found - 2) + 1))
    if (this.#state === 'sized' && this.#left === 0) this.#finish(bytes, after)
    return after
  }

  #begin(head: string): void {
    const [, minor, code, lines] = HEAD.exec(head) ?? []
    if (lines === undefined) throw new Error('malformed response head')
    const status = Number(code)
    if (status === 101) throw new Error('upgrade that was not asked for')
    // Another head follows.
    if (status < 200) return
    const headers = new Fields(lines)
    this.#state = framingOf(status, headers)
    this.#left = this.#state === 'sized' ? contentLength(status, headers) : 0
    // Two lengths: whoever goes by the other one is led astray (RFC 9112, section 6.3).
    const twoLengths = this.#state === 'chunk-size' && headers.get('content-length') !== null
    this.#reusable = minor === '1' && !twoLengths && !CLOSES.test(headers.get('connection') ?? '')
    this.#sink.head({ status, headers })
  }

  /** As many bytes of the body, or of its piece, as are here. */
  #readCounted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    this.#gather(bytes, at, end)
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk-end'
      else this.#finish(bytes, end)
    }
    return end
  }

  /** Moves a piece up to the one before it, so that all that came at once is told at once. */
  #gather(bytes: Buffer, from: number, to: number): void {
    if (this.#bodyTo === 0) this.#bodyFrom = this.#bodyTo = from
    else bytes.copyWithin(this.#bodyTo, from, to)
    this.#bodyTo += to - from
  }

  #tellBody(bytes: Buffer): void {
    if (this.#bodyTo === this.#bodyFrom) return
    this.#sink.body(bytes.subarray(this.#bodyFrom, this.#bodyTo))
    this.#bodyFrom = this.#bodyTo
  }

  /** What is between two pieces. Nearly all of it is whole and bare, and is read as bytes. */
  #readFraming(bytes: Buffer, at: number): number {
    if (this.#text !== '') return this.#readLine(bytes, at)
    let end = at
    let size = 0
    if (this.#state === 'chunk-size') {
      for (let digit = hexDigit(bytes[end]); digit >= 0; digit = hexDigit(bytes[end])) {
        size = size * 16 + digit
        end += 1
      }
      if (end === at || end - at > PLAIN_DIGITS_MAX) return this.#readLine(bytes, at)
    }
    if (bytes[end] !== CR || bytes[end + 1] !== LF) return this.#readLine(bytes, at)
    if (this.#state === 'chunk-end') this.#state = 'chunk-size'
    else this.#beginChunk(size)
    return end + 2
  }

  /** A line between pieces or of the trailers; the start of one waits for its rest. */
  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at)
    const end = lf < 0 ? bytes.length : lf
    this.#lineBytes += end - at
    if (this.#lineBytes > UPSTREAM_HEAD_BYTES_MAX) throw new Error('too much between two pieces')
    this.#text += bytes.toString('latin1', at, end)
    if (lf < 0) return end
    const line = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text
    this.#text = ''
    if (this.#state === 'chunk-size') this.#beginChunk(chunkSize(line))
    else if (line === '') this.#endLines(bytes, lf + 1)
    else if (this.#state === 'chunk-end') throw new Error('malformed chunk')
    return lf + 1
  }

  /** After a piece, its size is that of the next; trailers, which nobody asked for, end it all. */
  #endLines(bytes: Buffer, after: number): void {
    if (this.#state === 'chunk-end') this.#state = 'chunk-size'
    else this.#finish(bytes, after)
  }

  #beginChunk(size: number): void {
    this.#lineBytes = 0
    this.#left = size
    this.#state = size === 0 ? 'trailers' : 'chunk'
  }

  /** `after`: where the response ended; nothing may follow it. */
  #finish(bytes: Buffer, after: number): void {
    this.#state = 'done'
    this.#tellBody(bytes)
    this.#sink.end(this.#reusable && after === bytes.length)
  }
}
