import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createSessionTokens } from '../core/session-token.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Facts } from '../http/facts.ts'
import { createOrigins } from '../http/origin.ts'
import { createConsoleSessions, sessionGate } from '../http/session.ts'

export interface ConsoleParts {
  readonly config: Config
  readonly clock: Clock
  readonly secret: Uint8Array
  readonly tenants: Tenants
  readonly facts: Facts
}

/** Everything that tells a signed-in person's browser from others. */
export function openConsole({ config, clock, secret, tenants, facts }: ConsoleParts) {
  const origins = createOrigins({
    publicUrl: config.MB_PUBLIC_URL,
    proxies: config.MB_TRUST_PROXY,
    tls: config.MB_TLS_CERT !== undefined,
  })
  const sessions = createConsoleSessions({
    tokens: createSessionTokens({ secret, clock }),
    findUser: tenants.byId,
    secure: config.MB_COOKIE_SECURE,
  })
  return { origins, sessions, gate: sessionGate({ sessions, origins, facts }) }
}
