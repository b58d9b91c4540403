import type { Clock } from '../../core/clock.ts'
import { hmacHex, randomDigits, sameSecret } from '../../core/crypto.ts'
import {
  LOGIN_CODE_DIGITS,
  LOGIN_CODE_SECONDS_MAX,
  LOGIN_CODE_WRONG_ATTEMPTS_MAX,
} from '../../core/limits/contract.ts'
import { LOGIN_CODES_MAX } from '../../core/limits/machine.ts'
import { createExpiring } from '../../core/ttl-map.ts'

export interface CodesOptions {
  readonly clock: Clock
  /** A million codes are soon tried on a bare hash; keyed, the hash says nothing. */
  readonly key: Uint8Array
}

/** One-time codes by address (specification, Login): one at a time, few guesses, five minutes. */
export function createLoginCodes({ clock, key }: CodesOptions) {
  const codes = createExpiring<{ readonly hash: string; wrong: number }>(
    clock,
    LOGIN_CODE_SECONDS_MAX * 1000,
    LOGIN_CODES_MAX,
  )
  const hashOf = (email: string, code: string) => hmacHex(key, `${email}\n${code}`)

  return {
    /** A new code; the one before is void. */
    issue(email: string): string {
      const code = randomDigits(LOGIN_CODE_DIGITS)
      codes.set(email, { hash: hashOf(email, code), wrong: 0 })
      return code
    },

    /**
     * Whether this was the code, which it then is no longer; the last wrong guess voids it. Null
     * when there was no code to be guessed.
     */
    spend(email: string, code: string): boolean | null {
      const given = hashOf(email, code)
      const held = codes.get(email)
      if (!held) return null
      const right = sameSecret(given, held.hash)
      if (!right) held.wrong += 1
      if (right || held.wrong >= LOGIN_CODE_WRONG_ATTEMPTS_MAX) codes.delete(email)
      return right
    },
  }
}

export type LoginCodes = ReturnType<typeof createLoginCodes>
