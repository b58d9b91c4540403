import { sha256Hex } from '../../core/crypto.ts'
import { ACTIVATION_CODE_CHARS } from '../../core/limits/contract.ts'

/**
 * Base32 (RFC 4648) without L, which people cannot tell from I or 1. Without it every look-alike
 * has one meaning on input. Sixteen of 31 letters have 79 bits.
 */
const LETTERS = 'ABCDEFGHIJKMNOPQRSTUVWXYZ234567'
const LOOK_ALIKES: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', L: 'I', 8: 'B' }
const FORM = new RegExp(`^[${LETTERS}]{${ACTIVATION_CODE_CHARS}}$`)
/** Longer input is refused before it is normalised. */
const INPUT_CHARS_MAX = 100

/** Makes a one-time code. `random` returns as many random bytes as it is asked for. */
export function newCode(random: (bytes: number) => Uint8Array): string {
  // Bytes from the last multiple of 31 on are dropped; they would favour some letters.
  const fair = 256 - (256 % LETTERS.length)
  let code = ''
  while (code.length < ACTIVATION_CODE_CHARS) {
    for (const byte of random(ACTIVATION_CODE_CHARS)) {
      if (byte < fair && code.length < ACTIVATION_CODE_CHARS) code += LETTERS[byte % LETTERS.length]
    }
  }
  return code
}

/**
 * The hash under which a typed code is stored, or null when the input cannot be a code. Accepts any
 * case, full-width letters, blanks and dashes between groups, and 0, 1, L, 8 for O, I, I, B.
 */
export function hashOfInput(input: string): string | null {
  if (input.length > INPUT_CHARS_MAX) return null
  const letters = input
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[\s\p{Pd}\u2212_.:]/gu, '')
    .replace(/[01L8]/g, (letter) => LOOK_ALIKES[letter] ?? letter)
  return FORM.test(letters) ? sha256Hex(letters) : null
}
