import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { LOGIN_STARTS_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit, GuessLimit } from '../../http/request-limits.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { SignedInUser, Tenants } from '../tenants/service.ts'
import type { EmailLogin } from './email.ts'
import {
  EmailStartRequest,
  EmailStartResponse,
  EmailVerifyRequest,
  LoginMethods,
  LogoutResponse,
  Me,
  SwitchRequest,
} from './model.ts'
import { type NativeRouteParts, nativeRoutes } from './native-routes.ts'
import type { OAuthLogin } from './oauth.ts'
import { type OAuthRouteParts, oauthRoutes } from './oauth-routes.ts'

interface LoginRouteParts {
  readonly email: EmailLogin
  readonly oauth: OAuthLogin
  readonly tenants: Tenants
  readonly sessions: ConsoleSessions
  readonly addressLimit: AddressLimit
  readonly guessLimit: GuessLimit
}

export interface AuthParts extends LoginRouteParts, OAuthRouteParts, NativeRouteParts {
  readonly origins: Origins
}

/**
 * All of `/auth`. Caches keep none of it, and pages of other origins may not post to it, signed in
 * or not: they could sign a person in as another one.
 */
export const authRoutes = (gate: Gate, parts: AuthParts) =>
  new Elysia({ prefix: '/auth' })
    .onTransform(({ request, set }) => {
      set.headers['cache-control'] = 'no-store'
      parts.origins.check(request)
    })
    .use(loginRoutes(gate, parts))
    .use(oauthRoutes(parts))
    .use(nativeRoutes(parts))

async function meOf(tenants: Tenants, user: SignedInUser): Promise<Me> {
  const { user_id, email, tenant_id, operator, role } = user
  const belongsTo = await tenants.tenantsOf(user_id)
  return { user_id, email, tenant_id, operator, role, tenants: belongsTo }
}

const SHORT = { bytesMax: ANONYMOUS_BODY_BYTES_MAX }
const startBody = jsonBody(EmailStartRequest, SHORT)
const verifyBody = jsonBody(EmailVerifyRequest, SHORT)
const switchBody = jsonBody(SwitchRequest, SHORT)

/** Login by e-mail, logout, and the signed-in person (contract, Login). */
function loginRoutes(gate: Gate, parts: LoginRouteParts) {
  const { email, oauth, tenants, sessions, addressLimit, guessLimit } = parts
  const limitStarts = addressLimit('login start', LOGIN_STARTS_PER_MINUTE_MAX)
  const limitSteps = addressLimit('login verify', LOGIN_STEPS_PER_MINUTE_MAX)

  return new Elysia({ name: 'login' })
    .get(
      '/methods',
      (): LoginMethods => ({ email: true, email_delivery: email.medium(), oauth: oauth.list }),
      { response: LoginMethods, detail: { summary: 'Ways to log in' } },
    )
    .post(
      '/email/start',
      async ({ request, server, set }) => {
        await limitStarts({ request, server, set })
        return email.start((await startBody.read(request)).email)
      },
      {
        parse: 'none',
        response: EmailStartResponse,
        detail: { summary: 'Send a login code', requestBody: startBody.doc },
      },
    )
    .post(
      '/email/verify',
      async ({ request, server, set }) => {
        await limitSteps({ request, server, set })
        const guesses = guessLimit({ request, server })
        await guesses.check()
        const body = await verifyBody.read(request)
        const user = await email.verify(body.email, body.code, guesses)
        set.headers['set-cookie'] = sessions.cookieFor(user)
        return meOf(tenants, user)
      },
      {
        parse: 'none',
        response: Me,
        detail: { summary: 'Log in with the code', requestBody: verifyBody.doc },
      },
    )
    .post(
      '/logout',
      ({ set }): { ok: true } => {
        set.headers['set-cookie'] = sessions.clearing()
        return { ok: true }
      },
      { parse: 'none', response: LogoutResponse, detail: { summary: 'Log out' } },
    )
    .use(personRoutes(gate, tenants))
}

/** The signed-in person, and the tenant they are in. */
function personRoutes(gate: Gate, tenants: Tenants) {
  async function me(userId: string | null): Promise<Me> {
    const user = await tenants.byId(userId ?? '')
    if (!user) throw appError('unauthorized')
    return meOf(tenants, user)
  }
  return new Elysia()
    .use(gate)
    .get('/me', ({ principal }) => me(principal.userId), {
      allow: ['session'],
      response: Me,
      detail: { summary: 'Who is logged in' },
    })
    .post(
      '/tenant',
      async ({ principal, request, upload }) => {
        const { tenant_id: tenantId } = await switchBody.read(request, upload)
        await tenants.switchTo(principal.userId ?? '', tenantId)
        return me(principal.userId)
      },
      {
        allow: ['session'],
        parse: 'none',
        response: Me,
        detail: { summary: 'Go to another tenant', requestBody: switchBody.doc },
      },
    )
}
