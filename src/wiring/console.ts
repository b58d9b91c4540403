import type { UpstreamFetch } from '../channels/net/upstream-fetch.ts'
import type { Config } from '../config.ts'
import { type Clock, HOUR_MS } from '../core/clock.ts'
import { LOGIN_GUESSES_PER_HOUR_MAX } from '../core/limits/machine.ts'
import type { Logger } from '../core/log.ts'
import { createSessionTokens } from '../core/session-token.ts'
import type { Keys } from '../features/keys/service.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import type { Uploads } from '../http/body.ts'
import { clientAddress } from '../http/client-address.ts'
import type { RequestContexts } from '../http/observe.ts'
import { createOrigins } from '../http/origin.ts'
import {
  addressLimit,
  createRateLimiter,
  guessLimit,
  type PersonLimit,
} from '../http/rate-limit.ts'
import { createConsoleSessions, sessionGate } from '../http/session.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Db } from '../storage/db.ts'
import { openLogin } from './login.ts'

export interface ConsoleParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly db: Db
  readonly contexts: RequestContexts
  readonly keys: Keys
  readonly uploads: Uploads
  readonly personLimit: PersonLimit
  /** Signs sessions, seals login state and hashes login codes, by a derived key each. */
  readonly secret: Uint8Array
  readonly fetch: UpstreamFetch
  readonly printCode: (email: string, code: string) => void
}

/** Wires login, sessions and the console's gate. */
export function openConsole(parts: ConsoleParts) {
  const { config, clock, secret, db, contexts, uploads, personLimit } = parts
  const proxies = config.MB_TRUST_PROXY
  const tls = config.MB_TLS_CERT !== undefined
  const origins = createOrigins({ publicUrl: config.MB_PUBLIC_URL, proxies, tls })
  const tenants = createTenants({ store: createTenantStore(db), clock })
  const sessions = createConsoleSessions({
    tokens: createSessionTokens({ secret, clock }),
    findUser: tenants.byId,
    secure: config.MB_COOKIE_SECURE,
  })
  warnOfPlainHttp(config, parts.log)
  const login = openLogin({ ...parts, tenants })
  return {
    gate: sessionGate({ sessions, origins, contexts, uploads, limit: personLimit }),
    login: {
      ...login,
      tenants,
      sessions,
      origins,
      secureCookies: config.MB_COOKIE_SECURE,
      addressLimit: addressLimit(createRateLimiter(clock), clientAddress(proxies)),
      guessLimit: guessLimit(
        createRateLimiter(clock, HOUR_MS),
        clientAddress(proxies),
        LOGIN_GUESSES_PER_HOUR_MAX,
      ),
    },
    close: login.close,
  }
}

function warnOfPlainHttp(config: Config, log: Logger) {
  if (!config.MB_COOKIE_SECURE) {
    log.warn('session cookies travel over plain http', { setting: 'MB_COOKIE_SECURE' })
  }
  if (config.MB_OIDC_ISSUER?.startsWith('http:')) {
    log.warn('the login provider is asked over plain http', { setting: 'MB_OIDC_ISSUER' })
  }
}
