import { appError } from '../core/errors.ts'
import { SESSION_SECONDS_MAX } from '../core/limits/contract.ts'
import type { Principal } from '../core/principal.ts'
import type { SessionTokens } from '../core/session-token.ts'
import type { PatienceFor } from './body-timeout.ts'
import { cookie, cookieValues } from './cookies.ts'
import { gate } from './gate.ts'
import type { Origins } from './origin.ts'
import type { Facts } from './request-context.ts'

const COOKIE = 'mb_session'

export interface SessionOptions {
  readonly tokens: SessionTokens
  readonly findUser: (userId: string) => Promise<{ user_id: string; tenant_id: string } | null>
  /** False only where people log in over plain http (contract, MB_COOKIE_SECURE). */
  readonly secure: boolean
}

/**
 * The console's credential: cookie `mb_session` (specification, Console side). The token proves who
 * signed in; the person's row says which tenant is theirs now.
 */
export function createConsoleSessions({ tokens, findUser, secure }: SessionOptions) {
  return {
    async find(request: Request): Promise<Principal | null> {
      for (const token of cookieValues(request, COOKIE)) {
        const userId = tokens.read(token)
        const user = userId === null ? null : await findUser(userId)
        if (user) return principal(user.user_id, user.tenant_id)
      }
      return null
    },

    /** The Set-Cookie value that signs a person in. */
    cookieFor: (userId: string): string =>
      cookie(COOKIE, tokens.issue(userId), {
        path: '/',
        maxAgeSeconds: SESSION_SECONDS_MAX,
        secure,
      }),

    /** The Set-Cookie value that signs the browser out. */
    clearing: (): string => cookie(COOKIE, '', { path: '/', maxAgeSeconds: 0, secure }),
  }
}

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>

export interface SessionGateOptions {
  readonly sessions: ConsoleSessions
  readonly origins: Origins
  readonly facts: Facts
  readonly patienceFor: PatienceFor
}

/**
 * The gate of `/console` and `/auth/me`: it looks at the cookie and never at the Authorization
 * header, and refuses what pages of other origins send.
 */
export function sessionGate({ sessions, origins, facts, patienceFor }: SessionGateOptions) {
  async function admit(request: Request) {
    const principal = await sessions.find(request)
    if (!principal) throw appError('not_signed_in')
    origins.check(request)
    facts.note(request, { principal })
    return { principal, headers: { 'cache-control': 'no-store' } }
  }
  return gate('console', admit, patienceFor)
}

const principal = (userId: string, tenantId: string): Principal => ({
  kind: 'session',
  tenantId,
  keyId: null,
  appId: null,
  deviceId: null,
  userId,
})
