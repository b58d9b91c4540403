import type { Mailer } from '../channels/mail.ts'
import { createSmtpMailer } from '../channels/smtp/mailer.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { deriveKey } from '../core/crypto.ts'
import { LOGIN_CODES_WINDOW_MS } from '../core/limits.ts'
import type { Logger } from '../core/log.ts'
import { createAdmission } from '../features/login/admission.ts'
import { createLoginCodes } from '../features/login/codes.ts'
import { createDelivery } from '../features/login/delivery.ts'
import { createEmailLogin } from '../features/login/service.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Jobs } from '../jobs/runner.ts'

export interface LoginParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly secret: Uint8Array
  readonly tenants: Tenants
  readonly printCode: (email: string, code: string) => void
}

/** Every way of signing in. */
export function openLogin(parts: LoginParts) {
  const { config, clock, log, jobs, secret, tenants, printCode } = parts
  const mailer = openMailer(config)
  const email = createEmailLogin({
    codes: createLoginCodes({ clock, key: deriveKey(secret, 'login code') }),
    admission: createAdmission(tenants, config.MB_SIGNUP),
    delivery: createDelivery({ mailer, print: printCode, site: config.MB_PUBLIC_URL, log }),
    jobs,
    limiter: createRateLimiter(clock, LOGIN_CODES_WINDOW_MS),
  })
  return { email, providers: [], close: async () => mailer?.close() }
}

function openMailer(config: Config): Mailer | null {
  const url = config.MB_SMTP_URL
  return url === undefined
    ? null
    : createSmtpMailer({ url, from: config.MB_MAIL_FROM ?? sender(url) })
}

/** The account that mail goes out by; else an address at its server. */
function sender(smtpUrl: string): string {
  const { username, hostname } = new URL(smtpUrl)
  const user = decodeURIComponent(username)
  return `Moonbase <${user.includes('@') ? user : `moonbase@${hostname}`}>`
}
