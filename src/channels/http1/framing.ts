import type { Fields } from './fields.ts'

/** What of a body is to come next. */
export type Framing = 'sized' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers'

/** 13 hexadecimal digits are the most that a number holds exactly. */
const CHUNK_SIZE = /^([0-9a-f]{1,13})[ \t]*(?:;.*)?$/i
const LENGTH = /^(\d{1,15})(?:[ \t]*,[ \t]*\1)*$/

/** How the end of a body is found (RFC 9112, section 6.3). Throws when that is not clear. */
export function framingOf(status: number, headers: Fields): Framing {
  const coding = headers.get('transfer-encoding')
  if (isBodiless(status)) return 'sized'
  if (coding !== null) {
    if (coding.toLowerCase() !== 'chunked') throw new Error('unknown transfer coding')
    return 'chunk-size'
  }
  return headers.get('content-length') === null ? 'until-close' : 'sized'
}

/** In bytes. Throws for one that is none, and for several that differ. */
export function contentLength(status: number, headers: Fields): number {
  if (isBodiless(status)) return 0
  const length = LENGTH.exec(headers.get('content-length') ?? '')?.[1]
  if (length === undefined) throw new Error('malformed content length')
  return Number(length)
}

const isBodiless = (status: number) => status === 204 || status === 304

/** In bytes. Throws for what is none; extensions say nothing that anybody here knows. */
export function chunkSize(line: string): number {
  const size = CHUNK_SIZE.exec(line)?.[1]
  if (size === undefined) throw new Error('malformed chunk size')
  return Number.parseInt(size, 16)
}

/** The value of an ASCII digit; -1 for what is none. */
export function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
