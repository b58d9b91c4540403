import { createTtlMap } from '../../core/bounded-maps.ts'
import type { Clock } from '../../core/clock.ts'
import { hmacHex, randomDigits, sameSecret } from '../../core/crypto.ts'
import { normalEmail } from '../../core/email.ts'
import { appError, type RateLimitCode } from '../../core/errors.ts'
import {
  LOGIN_CODE_DIGITS,
  LOGIN_CODE_SECONDS_MAX,
  LOGIN_CODE_WRONG_ATTEMPTS_MAX,
  LOGIN_CODES_PER_ADDRESS_MAX,
} from '../../core/limits/contract.ts'
import { LOGIN_CODES_MAX, LOGIN_GUESSES_PER_PERSON_MAX } from '../../core/limits/machine.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { SignedInUser } from '../tenants/service.ts'
import type { Delivery } from './delivery.ts'
import type { SignupPolicy } from './signup-policy.ts'

/** Counts events of a subject in a window of time; `take` and `check` throw `rate_limited_…`. */
interface Limiter {
  take(subject: string, limit: number, code: RateLimitCode): unknown
  check(subject: string, limit: number, code: RateLimitCode): void
  count(subject: string): void
}

/** The wrong guesses of one client address; `check` throws `rate_limited_…`. */
export interface GuessCount {
  check(): void
  count(): void
}

export interface EmailLoginOptions {
  readonly clock: Clock
  readonly codes: LoginCodes
  readonly signup: SignupPolicy
  readonly delivery: Pick<Delivery, 'medium' | 'deliver'>
  readonly jobs: Jobs
  /** Codes sent to one e-mail address, in windows of ten minutes. */
  readonly codeLimiter: Pick<Limiter, 'take'>
  /** Wrong guesses at the codes of one e-mail address, in windows of a day. */
  readonly guessLimiter: Pick<Limiter, 'check' | 'count'>
}

/** Login by a one-time code (specification, Login; contract, Login). */
export function createEmailLogin(options: EmailLoginOptions) {
  const { clock, codes, signup, delivery, jobs, codeLimiter, guessLimiter } = options
  const checkGuesses = (email: string) =>
    guessLimiter.check(email, LOGIN_GUESSES_PER_PERSON_MAX, 'rate_limited_guesses')

  return {
    medium: delivery.medium,

    /**
     * Issues a code; a job decides whether and how it is sent. Known, unknown and refused addresses
     * take the same path before the answer, so neither its text nor its time tells them apart. The
     * job begins with a timer, because a promise alone could run before the answer is written.
     * Throws `rate_limited_…`.
     */
    start(email: string): { sent: true } {
      checkGuesses(email)
      codeLimiter.take(email, LOGIN_CODES_PER_ADDRESS_MAX, 'rate_limited_email')
      const code = codes.issue(email)
      jobs.run('send login code', async (signal) => {
        await clock.sleep(0, signal)
        if (await signup.isAllowed(email)) await delivery.deliver(email, code, signal)
      })
      return { sent: true }
    },

    /**
     * The person who holds the code. Throws the same `login_code_wrong` whatever is wrong, or
     * `rate_limited_…`. Checking, guessing and counting happen in one step without a wait, so that
     * requests at the same time cannot pass the limits together.
     */
    async verify(given: string, code: string, byClient: GuessCount): Promise<SignedInUser> {
      const email = normalEmail(given) ?? ''
      byClient.check()
      checkGuesses(email)
      const right = codes.spend(email, code.trim())
      if (right === false) {
        byClient.count()
        guessLimiter.count(email)
      }
      const user = right ? await signup.admit(email) : null
      if (!user) throw appError('login_code_wrong')
      return user
    },
  }
}

export type EmailLogin = ReturnType<typeof createEmailLogin>

export interface CodesOptions {
  readonly clock: Clock
  /** Codes are hashed with this key: all million plain hashes of six digits are quickly made. */
  readonly key: Uint8Array
}

/** One-time codes by e-mail address (specification, Login): one each, few guesses, five minutes. */
export function createLoginCodes({ clock, key }: CodesOptions) {
  const codes = createTtlMap<{ readonly hash: string; wrong: number }>(
    clock,
    LOGIN_CODE_SECONDS_MAX * 1000,
    LOGIN_CODES_MAX,
  )
  const hashOf = (email: string, code: string) => hmacHex(key, `${email}\n${code}`)

  return {
    /** A new code; it voids the one before. */
    issue(email: string): string {
      const code = randomDigits(LOGIN_CODE_DIGITS)
      codes.set(email, { hash: hashOf(email, code), wrong: 0 })
      return code
    },

    /**
     * Whether this was the code. The right guess spends it and the last wrong one voids it. Null
     * when there was no code to guess.
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
