import type { IdentityProvider } from '../channels/identity.ts'
import type { Mailer } from '../channels/mail.ts'
import { createGithubProvider } from '../channels/openid/github.ts'
import { createOidcProvider } from '../channels/openid/oidc.ts'
import { createSmtpMailer } from '../channels/smtp/mailer.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { deriveKey } from '../core/crypto.ts'
import { LOGIN_CODES_WINDOW_MS } from '../core/limits.ts'
import type { Logger } from '../core/log.ts'
import type { Keys } from '../features/keys/service.ts'
import { createAdmission } from '../features/login/admission.ts'
import { createLoginCodes } from '../features/login/codes.ts'
import { createDelivery } from '../features/login/delivery.ts'
import { createFlows } from '../features/login/flow.ts'
import { createNativeLogin } from '../features/login/native.ts'
import { createOAuthLogin } from '../features/login/oauth.ts'
import { createEmailLogin } from '../features/login/service.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Jobs } from '../jobs/runner.ts'

export interface LoginParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly keys: Keys
  readonly secret: Uint8Array
  readonly tenants: Tenants
  readonly fetch: typeof fetch
  readonly printCode: (email: string, code: string) => void
}

/** Every way of signing in. */
export function openLogin(parts: LoginParts) {
  const { config, clock, log, jobs, keys, secret, tenants, printCode } = parts
  const mailer = openMailer(config)
  const admission = createAdmission(tenants, config.MB_SIGNUP)
  const email = createEmailLogin({
    clock,
    codes: createLoginCodes({ clock, key: deriveKey(secret, 'login code') }),
    admission,
    delivery: createDelivery({ mailer, print: printCode, site: config.MB_PUBLIC_URL, log }),
    jobs,
    limiter: createRateLimiter(clock, LOGIN_CODES_WINDOW_MS),
  })
  const oauth = createOAuthLogin({
    providers: identityProviders(config, parts.fetch),
    flows: createFlows({ clock, key: deriveKey(secret, 'oauth flow') }),
    admission,
    log,
  })
  const native = createNativeLogin({ clock, keys, schemes: config.MB_APP_SCHEMES })
  return { email, oauth, native, close: async () => mailer?.close() }
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

/** Those that are configured, in the order the login page shows them. */
function identityProviders(config: Config, fetcher: typeof fetch): IdentityProvider[] {
  const github =
    config.MB_GITHUB_CLIENT_ID && config.MB_GITHUB_CLIENT_SECRET
      ? createGithubProvider({
          fetch: fetcher,
          clientId: config.MB_GITHUB_CLIENT_ID,
          clientSecret: config.MB_GITHUB_CLIENT_SECRET,
        })
      : null
  const google = config.MB_GOOGLE_CLIENT_ID
    ? createOidcProvider({
        fetch: fetcher,
        id: 'google',
        name: 'Google',
        issuer: 'https://accounts.google.com',
        clientId: config.MB_GOOGLE_CLIENT_ID,
        clientSecret: config.MB_GOOGLE_CLIENT_SECRET,
      })
    : null
  const oidc =
    config.MB_OIDC_ISSUER && config.MB_OIDC_CLIENT_ID
      ? createOidcProvider({
          fetch: fetcher,
          id: 'oidc',
          name: config.MB_OIDC_NAME ?? 'SSO',
          issuer: config.MB_OIDC_ISSUER,
          clientId: config.MB_OIDC_CLIENT_ID,
          clientSecret: config.MB_OIDC_CLIENT_SECRET,
        })
      : null
  return [github, google, oidc].filter((provider) => provider !== null)
}
