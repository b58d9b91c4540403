import { sha256Hex } from '../../core/crypto.ts'
import { ACTIVATION_CODE_CHARS } from '../../core/limits/contract.ts'

/**
 * Base32 (RFC 4648) without L, which people cannot tell from I or 1. With it gone every look-alike
 * on input has one meaning; 31 letters to the power of 16 are still 79 bits.
 */
const LETTERS = 'ABCDEFGHIJKMNOPQRSTUVWXYZ234567'
const LOOK_ALIKES: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', L: 'I', 8: 'B' }
const FORM = new RegExp(`^[${LETTERS}]{${ACTIVATION_CODE_CHARS}}$`)
/** Longer input is no code, however many blanks it has. */
const INPUT_CHARS_MAX = 100

/** A new one-time code. `random` gives that many random bytes. */
export function newCode(random: (bytes: number) => Uint8Array): string {
  // Bytes above the last multiple of 31 are dropped, so that no letter is likelier than another.
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
 * The stored form of what a person typed: any case, full-width letters, blanks and dashes between
 * groups, and 0, 1, L, 8 for the letters they look like. Null when it cannot be a code.
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
