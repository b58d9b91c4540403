const TAIL_CHARS = 4
/** The end of a shorter secret would give away too much of it. */
const SHOWN_FROM_CHARS = 12

/** The end of a secret, by which a person recognises it; empty for a short one. */
export function secretTail(secret: string): string {
  const chars = [...secret]
  return chars.length < SHOWN_FROM_CHARS ? '' : chars.slice(-TAIL_CHARS).join('')
}
