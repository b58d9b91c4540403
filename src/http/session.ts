import { encode } from 'jose/base64url'
import { decodeJwt } from 'jose/jwt/decode'
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { deriveKey, hmacBase64Url, newId, sameSecret } from '../core/crypto.ts'
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
  sid: z.string().min(1),
})

/** The person of a session. */
export interface SessionSubject {
  readonly userId: string
  /** Sessions of an earlier epoch of the person have ended. */
  readonly epoch: number
}

/** A session of one browser. */
export interface OpenSession extends SessionSubject {
  readonly id: string
  /** When the person signed in, in epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/**
 * Console sessions as signed tokens (JWT with HS256, RFC 7519) that hold a user id, its epoch and
 * the id of the session: the server keeps only a list of those that ended before they expire, or
 * are in another tenant than the person's own. Signing and verifying are synchronous. jose parses
 * the tokens but does not sign: its `crypto.subtle` waits for a thread of the pool that also
 * resolves host names, so a name server that does not answer would block all logins.
 */
export function createSessionTokens({ secret, clock }: { secret: Uint8Array; clock: Clock }) {
  const key = deriveKey(secret, 'session')
  return {
    issue({ userId, epoch }: SessionSubject): string {
      const iat = Math.floor(clock.now() / 1000)
      const exp = iat + SESSION_SECONDS_MAX
      const payload = encodePart({ sub: userId, iat, exp, epoch, sid: newId() })
      return `${HEADER}.${payload}.${hmacBase64Url(key, `${HEADER}.${payload}`)}`
    },

    /** Null for anything but a valid token of this server. */
    read(token: string): OpenSession | null {
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
      const { sub: userId, epoch, sid: id } = claims
      return { userId, epoch, id, startedAt: claims.iat * 1000, expiresAt: claims.exp * 1000 }
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
  /** Null for a person who is no longer a member of that tenant. */
  readonly role: Role | null
  readonly operator: boolean
  readonly session_epoch: number
  /** Whether an operator has closed the tenant. */
  readonly closed?: boolean
}

export interface SessionOptions {
  readonly tokens: SessionTokens
  /** Null for a person who may not sign in, and for a session that has ended. */
  readonly findUser: (userId: string, sessionId: string) => Promise<SignedIn | null>
  /** Moves a session to a tenant of the person; null when there is none. */
  readonly moveHome: (session: OpenSession) => Promise<SignedIn | null>
  /** Ends a session before it expires. */
  readonly end: (session: OpenSession) => Promise<void>
  /** Whether the cookies of this request are marked Secure (MB_COOKIE_SECURE). */
  readonly isSecure: (request: Request) => boolean
}

interface FoundSession {
  readonly session: OpenSession
  readonly user: SignedIn
}

/**
 * The console's credential: cookie `mb_session`. The token proves who signed in; the database says
 * in which tenant the session is now, and whether it has ended.
 */
export function createConsoleSessions(options: SessionOptions) {
  const { tokens, findUser, moveHome, end, isSecure } = options

  async function read(request: Request): Promise<FoundSession | null> {
    for (const token of cookieValues(request, COOKIE)) {
      const session = tokens.read(token)
      const user = session && (await findUser(session.userId, session.id))
      if (user && user.session_epoch === session.epoch) return { session, user }
    }
    return null
  }

  return {
    /** Null also for a person who is no longer a member of the session's tenant. */
    async find(request: Request): Promise<Principal | null> {
      const found = await read(request)
      return found && principal(found.user)
    },

    /** As `find`, but moves a person who is no longer a member to a tenant of theirs. */
    async findOrMove(request: Request): Promise<Principal | null> {
      const found = await read(request)
      if (found === null) return null
      const known = principal(found.user)
      if (known) return known
      const moved = await moveHome(found.session)
      return moved && principal(moved)
    },

    /** The session itself, whatever tenant it is in. */
    async open(request: Request): Promise<OpenSession | null> {
      return (await read(request))?.session ?? null
    },

    /** Ends the sessions of this browser on the server. */
    async end(request: Request): Promise<void> {
      for (const token of cookieValues(request, COOKIE)) {
        const session = tokens.read(token)
        if (session) await end(session)
      }
    },

    /** The Set-Cookie value that signs a person in. */
    cookieFor: (
      { user_id: userId, session_epoch: epoch }: Pick<SignedIn, 'user_id' | 'session_epoch'>,
      request: Request,
    ): string =>
      cookie(COOKIE, tokens.issue({ userId, epoch }), {
        path: '/',
        maxAgeSeconds: SESSION_SECONDS_MAX,
        secure: isSecure(request),
      }),

    /** The Set-Cookie value that signs the browser out. */
    clearing: (request: Request): string =>
      cookie(COOKIE, '', { path: '/', maxAgeSeconds: 0, secure: isSecure(request) }),

    isSecure,
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

/** The tenant that a page was loaded for. */
const TENANT_HEADER = 'x-moonbase-tenant'

/**
 * The gate of `/console`, and of `/auth` for people who are signed in. It reads the cookie and
 * never the Authorization header, and refuses requests from pages of other origins, of pages that
 * were loaded for another tenant, and those that the person's role does not allow. On `/auth` a
 * person who was removed from the session's tenant is in one of theirs again; `/console` refuses
 * them, so that what they began in one tenant is not stored in another, and tells a page that names
 * its tenant that the browser is in another one now.
 */
export function sessionGate(options: SessionGateOptions) {
  const { sessions, roleIn, origins, contexts, uploads, limit } = options
  async function admit(request: Request, route: string) {
    const find = route.startsWith('/auth/') ? sessions.findOrMove : sessions.find
    const principal = await find(request)
    const shown = request.headers.get(TENANT_HEADER)
    if (!principal) {
      const isElsewhere = shown !== null && (await sessions.findOrMove(request))
      throw appError(isElsewhere ? 'tenant_changed' : 'not_signed_in')
    }
    origins.check(request)
    if (shown !== null && shown !== principal.tenantId) throw appError('tenant_changed')
    // An operator must be able to open the own tenant again.
    const isOpen = route.startsWith('/auth/') || route.startsWith('/console/system')
    if (principal.closed && !isOpen) throw appError('tenant_disabled')
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

const principal = ({ user_id, tenant_id, role, operator, closed }: SignedIn): Principal | null =>
  role === null
    ? null
    : {
        kind: 'session',
        tenantId: tenant_id,
        keyId: null,
        appId: null,
        deviceId: null,
        userId: user_id,
        role,
        operator,
        ...(closed ? { closed } : {}),
      }

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
