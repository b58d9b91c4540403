import { encode } from 'jose/base64url'
import { decodeJwt } from 'jose/jwt/decode'
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { deriveKey, hmacBase64Url, sameSecret } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import { SESSION_SECONDS_MAX } from '../core/limits/contract.ts'
import { CLOCK_BACK_SECONDS_MAX } from '../core/limits/machine.ts'
import type { Principal, Role } from '../core/principal.ts'
import type { Uploads } from './body.ts'
import { gate } from './gate.ts'
import type { RequestContexts } from './observe.ts'
import type { Origins } from './origin.ts'
import type { PersonLimit } from './request-limits.ts'
import { checkRole, leastRole } from './roles.ts'

/** The only header that `read` accepts, so that no token chooses its algorithm. */
const HEADER = encodePart({ alg: 'HS256', typ: 'mb-session+jwt' })
const TOKEN_CHARS_MAX = 1_000

const Claims = z.object({
  sub: z.string().min(1),
  iat: z.number(),
  exp: z.number(),
  epoch: z.int().default(0),
})

/** The person of a session. */
export interface SessionSubject {
  readonly userId: string
  /** Sessions of an earlier epoch of the person have ended. */
  readonly epoch: number
}

/**
 * Console sessions as signed tokens (JWT with HS256, RFC 7519) that hold a user id and its epoch:
 * the server keeps no list of them (specification, Console side). Signing and verifying are
 * synchronous. jose parses the tokens but does not sign: its `crypto.subtle` waits for a thread of
 * the pool that also resolves host names, so a name server that does not answer would block all
 * logins.
 */
export function createSessionTokens({ secret, clock }: { secret: Uint8Array; clock: Clock }) {
  const key = deriveKey(secret, 'session')
  return {
    issue({ userId, epoch }: SessionSubject): string {
      const iat = Math.floor(clock.now() / 1000)
      const payload = encodePart({ sub: userId, iat, exp: iat + SESSION_SECONDS_MAX, epoch })
      return `${HEADER}.${payload}.${hmacBase64Url(key, `${HEADER}.${payload}`)}`
    },

    /** Null for anything but a valid token of this server. */
    read(token: string): SessionSubject | null {
      if (token.length > TOKEN_CHARS_MAX) return null
      const [header, payload, signature, ...rest] = token.split('.')
      if (header !== HEADER || !payload || !signature || rest.length > 0) return null
      if (!sameSecret(signature, hmacBase64Url(key, `${header}.${payload}`))) return null
      const claims = Claims.safeParse(decodeJwt(token)).data
      if (!claims) return null
      const seconds = clock.now() / 1000
      // Setting the clock back by some hours must not sign people out.
      const isFromFuture = claims.iat - seconds > CLOCK_BACK_SECONDS_MAX
      if (isFromFuture || claims.exp <= Math.floor(seconds)) return null
      return { userId: claims.sub, epoch: claims.epoch }
    },
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>

function encodePart(value: object): string {
  return encode(JSON.stringify(value))
}

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
  /** Null for a person who may not sign in. */
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
  /** Null for a person who is no member of the tenant, or may not sign in. */
  readonly roleIn: (tenantId: string, userId: string) => Promise<Role | null>
  readonly origins: Origins
  readonly contexts: RequestContexts
  readonly uploads: Uploads
  /** Throws `rate_limited`. */
  readonly limit: PersonLimit
}

/**
 * The gate of `/console` and `/auth/me`. It reads the cookie and never the Authorization header,
 * and refuses requests from pages of other origins and those that the person's role does not allow.
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
