const TAIL_CHARS = 4
/** The end of a shorter secret would give away too much of it. */
const SHOWN_FROM_CHARS = 12

/**
 * The end of a secret, by which a person recognises it; empty for one shorter than `shownFrom`
 * characters.
 */
export function secretTail(secret: string, shownFrom = SHOWN_FROM_CHARS): string {
  const chars = [...secret]
  return chars.length < shownFrom ? '' : chars.slice(-TAIL_CHARS).join('')
}
