import { type AnyElysia, Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { LOGIN_STARTS_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit, GuessLimit } from '../../http/request-limits.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { Tenants } from '../tenants/service.ts'
import type { EmailLogin } from './email.ts'
import {
  EmailStartRequest,
  EmailStartResponse,
  EmailVerifyRequest,
  LoginMethods,
  LogoutResponse,
  Me,
} from './model.ts'
import { type NativeRouteParts, nativeRoutes } from './native-routes.ts'
import type { OAuthLogin } from './oauth.ts'
import { type OAuthRouteParts, oauthRoutes } from './oauth-routes.ts'
import { meOf, type PersonRouteParts, personRoutes } from './person-routes.ts'
import type { Sessions } from './sessions.ts'

interface LoginRouteParts {
  readonly email: EmailLogin
  readonly oauth: OAuthLogin
  readonly tenants: Tenants
  readonly sessions: ConsoleSessions
  readonly opened: Pick<Sessions, 'endAll'>
  readonly addressLimit: AddressLimit
  readonly guessLimit: GuessLimit
}

export type AuthParts = LoginRouteParts &
  PersonRouteParts &
  OAuthRouteParts &
  NativeRouteParts & { readonly origins: Origins }

/**
 * All of `/auth`. Caches keep none of it, and pages of other origins may not post to it, signed in
 * or not: they could sign a person in as another one.
 */
export const authRoutes = (gate: Gate, parts: AuthParts, invitations: AnyElysia) =>
  new Elysia({ prefix: '/auth' })
    .onTransform(({ request, set }) => {
      set.headers['cache-control'] = 'no-store'
      parts.origins.check(request)
    })
    .use(loginRoutes(parts))
    .use(personRoutes(gate, parts))
    .use(invitations)
    .use(oauthRoutes(parts))
    .use(nativeRoutes(parts))

const SHORT = { bytesMax: ANONYMOUS_BODY_BYTES_MAX }
const startBody = jsonBody(EmailStartRequest, SHORT)
const verifyBody = jsonBody(EmailVerifyRequest, SHORT)
const LOGOUT_QUERY = queryDoc({ everywhere: '1 ends all sessions of the person, on all servers' })

/** Login by e-mail, logout, and the signed-in person. */
function loginRoutes(parts: LoginRouteParts) {
  const { email, oauth, tenants, sessions, opened, addressLimit, guessLimit } = parts
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
      async ({ request, set }): Promise<{ ok: true }> => {
        if (new URL(request.url).searchParams.get('everywhere') === '1') {
          const session = await sessions.open(request)
          if (!session) throw appError('not_signed_in')
          await opened.endAll(session.userId)
        } else await sessions.end(request)
        set.headers['set-cookie'] = sessions.clearing()
        return { ok: true }
      },
      {
        parse: 'none',
        response: LogoutResponse,
        detail: { summary: 'Log out, here or everywhere', parameters: LOGOUT_QUERY },
      },
    )
}
