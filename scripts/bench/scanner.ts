import { nowMicros, readStamp } from './stamp.ts'

/** Begins every token of the stub upstream; a stamp of 16 digits may follow. */
export const TOKEN = 'tkn'
const TOKEN_BYTES = Buffer.from(TOKEN)

/** The end marks of each kind of stream; no token follows them. */
const END = {
  openai: Buffer.from('[DONE]'),
  agent: Buffer.from('"llm_end"'),
  anthropic: Buffer.from('"message_stop"'),
  ollama: Buffer.from('"done":true'),
} as const
export type StreamFormat = keyof typeof END

export interface Scanner {
  feed(bytes: Buffer): void
  readonly tokens: number
  /** `performance.now()` of the first token; 0 before it. */
  readonly firstAt: number
  readonly ended: boolean
}

/**
 * Counts the tokens of an event stream and records the time of the first one, without parsing the
 * frames. Stamped tokens add their age in milliseconds to `ages`.
 */
export function createScanner(format: StreamFormat, ages: number[] | null): Scanner {
  let held: Buffer | null = null
  const scanner = {
    tokens: 0,
    firstAt: 0,
    ended: false,
    feed(bytes: Buffer) {
      // Scans whole lines only, so that no token is cut in two.
      const all: Buffer = held ? Buffer.concat([held, bytes]) : bytes
      const cut = all.lastIndexOf(10) + 1
      held = cut < all.length ? Buffer.from(all.subarray(cut)) : null
      if (cut > 0 && !scanner.ended) scan(all.subarray(0, cut))
    },
  }
  function scan(lines: Buffer) {
    const end = lines.indexOf(END[format])
    const limit = end < 0 ? lines.length : end
    let at = lines.indexOf(TOKEN_BYTES)
    const micros = ages && at >= 0 ? nowMicros() : 0
    for (; at >= 0 && at < limit; at = lines.indexOf(TOKEN_BYTES, at + TOKEN.length)) {
      scanner.tokens++
      ages?.push((micros - readStamp(lines, at + TOKEN.length)) / 1_000)
    }
    if (scanner.tokens > 0 && scanner.firstAt === 0) scanner.firstAt = performance.now()
    scanner.ended = end >= 0
  }
  return scanner
}
