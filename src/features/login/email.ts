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
import type { OpenCodes } from '../../storage/shared-state.ts'
import type { SignedInUser } from '../tenants/service.ts'
import type { Delivery } from './delivery.ts'
import type { SignupPolicy } from './signup-policy.ts'

/** Counts events of a subject in a window of time; all but `giveBack` throw `rate_limited_…`. */
interface Limiter {
  take(subject: string, limit: number, code: RateLimitCode): Promise<unknown>
  check(subject: string, limit: number, code: RateLimitCode): Promise<void>
  reserve(subject: string, limit: number, code: RateLimitCode): Promise<void>
  giveBack(subject: string): Promise<void>
}

/** The wrong guesses of one client address; `reserve` counts one and throws `rate_limited_…`. */
export interface GuessCount {
  reserve(): Promise<void>
  giveBack(): Promise<void>
}

export interface EmailLoginOptions {
  readonly clock: Clock
  readonly codes: LoginCodes
  readonly signup: SignupPolicy
  readonly delivery: Pick<Delivery, 'medium' | 'state' | 'deliver'>
  readonly jobs: Jobs
  /** Codes sent to one e-mail address, in windows of ten minutes. */
  readonly codeLimiter: Pick<Limiter, 'take'>
  /** Wrong guesses at the codes of one e-mail address, in windows of a day. */
  readonly guessLimiter: Pick<Limiter, 'check' | 'reserve' | 'giveBack'>
}

/** Login by a one-time code. */
export function createEmailLogin(options: EmailLoginOptions) {
  const { clock, codes, signup, delivery, jobs, codeLimiter, guessLimiter } = options
  const guesses = [LOGIN_GUESSES_PER_PERSON_MAX, 'rate_limited_guesses'] as const

  /**
   * As `codes.spend`. A guess is counted before it is checked, and uncounted when it was right or
   * there was no code, so that simultaneous requests cannot exceed the limits.
   */
  async function spend(email: string, code: string, byClient: GuessCount) {
    await byClient.reserve()
    await guessLimiter.reserve(email, ...guesses).catch(async (error) => {
      await byClient.giveBack()
      throw error
    })
    const right = await codes.spend(email, code)
    if (right !== false) await Promise.all([byClient.giveBack(), guessLimiter.giveBack(email)])
    return right
  }

  return {
    medium: delivery.medium,
    mail: delivery.state,

    /**
     * Issues a code; a job decides whether and how it is sent. Known, unknown and refused addresses
     * take the same path before the answer, so neither its text nor its time distinguishes them. A
     * timer starts the job, because a promise alone could run before the answer is written. Throws
     * `rate_limited_…`.
     */
    async start(email: string): Promise<{ sent: true }> {
      await guessLimiter.check(email, ...guesses)
      await codeLimiter.take(email, LOGIN_CODES_PER_ADDRESS_MAX, 'rate_limited_email')
      const code = await codes.issue(email)
      jobs.run('send login code', async (signal) => {
        await clock.sleep(0, signal)
        if (await signup.isAllowed(email)) await delivery.deliver(email, code, signal)
      })
      return { sent: true }
    },

    /**
     * Signs in the person of the code. Throws `login_code_wrong`, the same for every reason, or
     * `rate_limited_…`.
     */
    async verify(given: string, code: string, byClient: GuessCount): Promise<SignedInUser> {
      const email = normalEmail(given) ?? ''
      const right = await spend(email, code.trim(), byClient)
      const user = right ? await signup.admit(email) : null
      if (!user) throw appError('login_code_wrong')
      return user
    },
  }
}

export type EmailLogin = ReturnType<typeof createEmailLogin>

export interface CodesOptions {
  readonly openCodes: OpenCodes
  /**
   * Codes are hashed with this key, because all plain hashes of six digits are quickly computed.
   */
  readonly key: Uint8Array
}

/** One-time codes by e-mail address: one each, few guesses, five minutes. */
export function createLoginCodes({ openCodes, key }: CodesOptions) {
  const life = { ttlMs: LOGIN_CODE_SECONDS_MAX * 1000, countMax: LOGIN_CODES_MAX }
  const codes = openCodes('login code', life)
  const hashOf = (email: string, code: string) => hmacHex(key, `${email}\n${code}`)

  return {
    /** Issues a new code, which voids the previous one. */
    async issue(email: string): Promise<string> {
      const code = randomDigits(LOGIN_CODE_DIGITS)
      await codes.put(email, hashOf(email, code))
      return code
    },

    /**
     * Whether this was the code. The right guess spends it and the last wrong one voids it. Null
     * when there was no code to guess.
     */
    async spend(email: string, code: string): Promise<boolean | null> {
      const given = hashOf(email, code)
      const held = await codes.attempt(email, LOGIN_CODE_WRONG_ATTEMPTS_MAX)
      if (held === null) return null
      if (!sameSecret(given, held)) return false
      // Of simultaneous right guesses only one spends the code.
      return (await codes.take(email)) === held || null
    },
  }
}

export type LoginCodes = ReturnType<typeof createLoginCodes>
