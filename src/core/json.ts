import { JSON_DEPTH_MAX, JSON_SIGNS_MAX } from './limits/machine.ts'

/** Too short to take long, whatever it holds. */
const SHORT_CHARS = 4_096

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** This bit alone tells `[` from `{` and `]` from `}`. */
const CURLY = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/**
 * `JSON.parse` for text of others. A megabyte of brackets holds the thread for half a second, and
 * writing such a value out again for many; so text that nests deep or consists of little but signs
 * is refused before it is parsed. Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  if (!isModest(text)) throw new SyntaxError('not a modest JSON text')
  return JSON.parse(text)
}

/** Looks at what stands outside of strings; those are jumped over, however long. */
export function isModest(text: string): boolean {
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
