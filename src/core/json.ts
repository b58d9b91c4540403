import { JSON_DEPTH_MAX, JSON_SIGNS_MAX } from './limits/machine.ts'

/** Shorter texts are parsed unchecked: they cannot be expensive. */
const SHORT_CHARS = 4_096

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** This bit alone tells `[` from `{` and `]` from `}`. */
const CURLY = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/**
 * `JSON.parse` for text that others wrote. Half a second of processor time goes into a megabyte of
 * nested brackets, and many seconds into writing such a value out again. So text that nests too
 * deep or has too many items is refused before it is parsed. NUL, which PostgreSQL cannot store,
 * becomes U+FFFD at once, as a lone surrogate does when it is stored. Throws `SyntaxError`.
 */
export function parseUntrustedJson(text: string): unknown {
  if (!hasBoundedStructure(text)) throw new SyntaxError('JSON too deep or with too many items')
  return JSON.parse(text.includes(NUL) ? text.replaceAll(ESCAPE, withoutNul) : text)
}

/** Items of a list as the database has written them: JSON with commas between. Never empty. */
export class JsonItems {
  constructor(readonly text: string) {}
}

const NUL = '\\u0000'
/** One escape in a string; a backslash stands nowhere else. */
const ESCAPE = /\\(?:u0000|.)/gs
const withoutNul = (found: string) => (found === NUL ? '\\ufffd' : found)

/** Counts brackets and commas outside of strings; a string is skipped, however long. */
export function hasBoundedStructure(text: string): boolean {
  if (text.length <= SHORT_CHARS) return true
  let depth = 0
  let signs = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = stringEnd(text, at)
      continue
    }
    const bracket = unit | CURLY
    if (bracket === OPENING) depth++
    else if (bracket === CLOSING) depth--
    else if (unit !== COMMA) continue
    signs++
    if (depth > JSON_DEPTH_MAX || signs > JSON_SIGNS_MAX) return false
  }
  return true
}

/** Where the string that opens at `start` closes; the end of the text when it never does. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}
