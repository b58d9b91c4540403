import { type AnyElysia, Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { LOGIN_STARTS_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit, GuessLimit } from '../../http/request-limits.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { EmailLogin } from './email.ts'
import { type LinkRouteParts, linkRoutes } from './link-routes.ts'
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
import { relyingParty } from './passkeys/relying-party.ts'
import { type PasskeyRouteParts, passkeyRoutes, passkeySignInRoutes } from './passkeys/routes.ts'
import { type MeTenants, meOf, type PersonRouteParts, personRoutes } from './person-routes.ts'
import type { Sessions } from './sessions.ts'
import type { SignInWays } from './ways.ts'

interface LoginRouteParts {
  readonly email: EmailLogin
  readonly oauth: OAuthLogin
  readonly ways: SignInWays
  readonly origins: Origins
  readonly tenants: MeTenants
  readonly sessions: ConsoleSessions
  readonly opened: Pick<Sessions, 'endAll'>
  readonly addressLimit: AddressLimit
  readonly guessLimit: GuessLimit
}

export type AuthParts = LoginRouteParts &
  PersonRouteParts &
  OAuthRouteParts &
  NativeRouteParts &
  PasskeyRouteParts &
  LinkRouteParts

/**
 * All of `/auth`. Caches keep none of it, and pages of other origins may not post to it, signed in
 * or not: they could sign a person in as another one.
 */
export function authRoutes(on: Gated, parts: AuthParts, others: readonly AnyElysia[]): AnyElysia {
  personRoutes(on, parts)
  passkeyRoutes(on, parts)
  const routes: AnyElysia = new Elysia({ prefix: '/auth' })
    .onTransform(({ request, set }) => {
      set.headers['cache-control'] = 'no-store'
      parts.origins.check(request)
    })
    .use(loginRoutes(parts))
    .use(passkeySignInRoutes(parts))
    .use(linkRoutes(parts))
    .use(oauthRoutes(parts))
    .use(nativeRoutes(parts))
    .use(on)
  return others.reduce((all, one) => all.use(one), routes)
}

const SHORT = { bytesMax: ANONYMOUS_BODY_BYTES_MAX }
const startBody = jsonBody(EmailStartRequest, SHORT)
const verifyBody = jsonBody(EmailVerifyRequest, SHORT)
const LOGOUT_QUERY = queryDoc({ everywhere: '1 ends all sessions of the person, on all servers' })

/** Login by e-mail, logout, and the signed-in person. */
function loginRoutes(parts: LoginRouteParts) {
  const { email, oauth, ways, origins, tenants, sessions, opened } = parts
  const { addressLimit, guessLimit } = parts
  const limitStarts = addressLimit('login start', LOGIN_STARTS_PER_MINUTE_MAX)
  const limitSteps = addressLimit('login verify', LOGIN_STEPS_PER_MINUTE_MAX)

  return new Elysia({ name: 'login' })
    .get(
      '/methods',
      ({ request }): LoginMethods => ({
        email: ways.has('email'),
        email_delivery: email.medium(),
        mail: email.mail(),
        oauth: ways.has('oauth') ? oauth.list : [],
        passkey: ways.has('passkey') && relyingParty(origins, request) !== null,
      }),
      { response: LoginMethods, detail: { summary: 'Ways to log in' } },
    )
    .post(
      '/email/start',
      async ({ request, server, set }) => {
        await limitStarts({ request, server, set })
        ways.check('email')
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
        ways.check('email')
        const guesses = guessLimit({ request, server })
        await guesses.check()
        const body = await verifyBody.read(request)
        const user = await email.verify(body.email, body.code, guesses)
        set.headers['set-cookie'] = sessions.cookieFor(user, request)
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
        set.headers['set-cookie'] = sessions.clearing(request)
        return { ok: true }
      },
      {
        parse: 'none',
        response: LogoutResponse,
        // Without a cookie there is nothing to end, and the answer is the same.
        detail: {
          summary: 'Log out, here or everywhere',
          parameters: LOGOUT_QUERY,
          security: [{ console: [] }],
        },
      },
    )
}
