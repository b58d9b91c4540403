import { appError } from '../core/errors.ts'
import { SESSION_SECONDS_MAX } from '../core/limits/contract.ts'
import type { Principal, Role } from '../core/principal.ts'
import type { SessionTokens } from '../core/session-token.ts'
import type { Uploads } from './body.ts'
import { gate } from './gate.ts'
import type { RequestContexts } from './observe.ts'
import type { Origins } from './origin.ts'
import type { PersonLimit } from './request-limits.ts'
import { checkRole, leastRole } from './roles.ts'

const COOKIE = 'mb_session'

/** The person of a session, as stored. */
export interface SignedIn {
  readonly user_id: string
  readonly tenant_id: string
  readonly role: Role
  readonly operator: boolean
  readonly session_epoch: number
}

export interface SessionOptions {
  readonly tokens: SessionTokens
  /** Null for somebody who may not sign in. */
  readonly findUser: (userId: string) => Promise<SignedIn | null>
  /** False only where people sign in over plain http (contract, MB_COOKIE_SECURE). */
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
        const subject = tokens.read(token)
        const user = subject && (await findUser(subject.userId))
        if (user && user.session_epoch === subject.epoch) return principal(user)
      }
      return null
    },

    /** The Set-Cookie value that signs a person in. */
    cookieFor: ({
      user_id: userId,
      session_epoch: epoch,
    }: Pick<SignedIn, 'user_id' | 'session_epoch'>): string =>
      cookie(COOKIE, tokens.issue({ userId, epoch }), {
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
  /** Null for somebody who is no member of the tenant, or may not sign in. */
  readonly roleIn: (tenantId: string, userId: string) => Promise<Role | null>
  readonly origins: Origins
  readonly contexts: RequestContexts
  readonly uploads: Uploads
  /** Throws `rate_limited`. */
  readonly limit: PersonLimit
}

/**
 * The gate of `/console` and `/auth/me`. It reads the cookie and never the Authorization header,
 * and refuses what pages of other origins send and what the role of the person does not allow.
 */
export function sessionGate(options: SessionGateOptions) {
  const { sessions, roleIn, origins, contexts, uploads, limit } = options
  async function admit(request: Request, route: string) {
    const principal = await sessions.find(request)
    if (!principal) throw appError('not_signed_in')
    origins.check(request)
    contexts.note(request, { principal })
    await limit(principal)
    const least = leastRole(request.method, route)
    checkRole(principal.role, least)
    const confirm = async () => {
      const { tenantId, userId } = principal
      const role = (await sessions.find(request)) && (await roleIn(tenantId, userId ?? ''))
      if (!role) throw appError('not_signed_in')
      checkRole(role, least)
    }
    return { principal, headers: { 'cache-control': 'no-store' }, confirm }
  }
  return gate('console', admit, uploads)
}

const principal = (user: SignedIn): Principal => ({
  kind: 'session',
  tenantId: user.tenant_id,
  keyId: null,
  appId: null,
  deviceId: null,
  userId: user.user_id,
  role: user.role,
  operator: user.operator,
})

export interface CookieOptions {
  readonly path: string
  readonly maxAgeSeconds: number
  readonly secure: boolean
}

/** A Set-Cookie value for a token without special characters; scripts cannot read the cookie. */
export function cookie(name: string, value: string, options: CookieOptions): string {
  const { path, maxAgeSeconds, secure } = options
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly']
  return [...parts, 'SameSite=Lax', ...(secure ? ['Secure'] : [])].join('; ')
}

/**
 * The values of the cookies called `name`. There can be several, because a neighbouring host may
 * set one as well; the first four are enough to find ours.
 */
export function cookieValues(request: Request, name: string): string[] {
  return (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, 4)
    .map((pair) => pair.slice(name.length + 1))
}
