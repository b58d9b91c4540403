import type { Clock } from '../../core/clock.ts'
import { unauthorized } from '../../core/errors.ts'
import { LOGIN_CODES_PER_ADDRESS_MAX } from '../../core/limits/contract.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { User } from '../tenants/store.ts'
import type { LoginCodes } from './codes.ts'
import type { Delivery } from './delivery.ts'
import { normalEmail } from './model.ts'
import type { Admission } from './signup-policy.ts'

export interface EmailLoginOptions {
  readonly clock: Clock
  readonly codes: LoginCodes
  readonly admission: Admission
  readonly delivery: Delivery
  readonly jobs: Jobs
  /** Counts codes an address and ten minutes; throws `rate_limited`. */
  readonly limiter: { take(subject: string, limit: number, message: string): unknown }
}

/** Login by a one-time code (specification, Login; contract, Login). */
export function createEmailLogin(options: EmailLoginOptions) {
  const { clock, codes, admission, delivery, jobs, limiter } = options

  return {
    medium: delivery.medium,

    /**
     * Makes a code and lets a job find out whether and how it is sent. Nothing that differs between
     * known, unknown and refused addresses happens before the answer, so that neither its text nor
     * its time tells them apart: the job sleeps once, for a timer comes after the answer is written
     * and a mere promise may come before. Throws `rate_limited`.
     */
    start(email: string): { sent: true } {
      limiter.take(email, LOGIN_CODES_PER_ADDRESS_MAX, '该邮箱请求验证码过于频繁，请稍后再试')
      const code = codes.issue(email)
      jobs.run('send login code', async (signal) => {
        await clock.sleep(0, signal)
        if (await admission.isAllowed(email)) await delivery.deliver(email, code, signal)
      })
      return { sent: true }
    },

    /**
     * The person who holds the code. Throws one and the same `unauthorized` for all else; a guess
     * at a code that somebody waits for is told to `onWrongGuess`.
     */
    async verify(given: string, code: string, onWrongGuess: () => void): Promise<User> {
      const email = normalEmail(given)
      const right = codes.spend(email ?? '', code.trim())
      if (right === false) onWrongGuess()
      const user = right && email !== null ? await admission.admit(email) : null
      if (!user) throw unauthorized('验证码错误或已过期')
      return user
    },
  }
}

export type EmailLogin = ReturnType<typeof createEmailLogin>
