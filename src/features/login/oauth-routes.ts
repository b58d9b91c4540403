import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { LOGIN_STEPS_PER_MINUTE_MAX, OAUTH_FLOW_SECONDS_MAX } from '../../core/limits/machine.ts'
import { REDIRECT_DOC } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { type ConsoleSessions, cookie, cookieValues } from '../../http/session.ts'
import type { OAuthLogin } from './oauth.ts'
import type { SignInWays } from './ways.ts'

export interface OAuthRouteParts {
  readonly oauth: OAuthLogin
  readonly ways: SignInWays
  readonly sessions: ConsoleSessions
  readonly origins: Origins
  readonly addressLimit: AddressLimit
}

const COOKIE = 'mb_oauth'

/** Login by redirect to GitHub, Google or any OpenID issuer. */
export function oauthRoutes(parts: OAuthRouteParts) {
  const { oauth, ways, sessions, origins, addressLimit } = parts
  const limit = addressLimit('login oauth', LOGIN_STEPS_PER_MINUTE_MAX)
  const stateCookie = (request: Request, value: string, maxAgeSeconds: number) =>
    cookie(COOKIE, value, {
      path: '/auth/oauth',
      maxAgeSeconds,
      secure: sessions.isSecure(request),
    })

  /** The redirect URI; both steps must send the same one, because providers compare them. */
  function redirectUri(request: Request, provider: string): URL {
    const origin = origins.of(request)
    if (origin === null) throw appError('invalid_host')
    return new URL(`/auth/oauth/${encodeURIComponent(provider)}/callback`, origin)
  }

  return new Elysia({ name: 'login-oauth' })
    .get(
      '/oauth/:provider',
      async ({ request, server, set, params }) => {
        await limit({ request, server, set })
        ways.check('oauth')
        const { href } = redirectUri(request, params.provider)
        const next = new URL(request.url).searchParams.get('next')
        const { location, sealed } = await oauth.start(params.provider, href, next)
        if (sealed !== null) {
          set.headers['set-cookie'] = stateCookie(request, sealed, OAUTH_FLOW_SECONDS_MAX)
        }
        set.status = 302
        set.headers.location = location
        return ''
      },
      { detail: { summary: 'Go to a provider to log in', responses: REDIRECT_DOC } },
    )
    .get(
      '/oauth/:provider/callback',
      async ({ request, server, set, params }) => {
        await limit({ request, server, set })
        ways.check('oauth')
        const callback = redirectUri(request, params.provider)
        callback.search = new URL(request.url).search
        const sealed = cookieValues(request, COOKIE)
        const { location, user } = await oauth.finish(params.provider, sealed, callback)
        const cookies = [stateCookie(request, '', 0)]
        if (user) cookies.push(sessions.cookieFor(user, request))
        set.headers['set-cookie'] = cookies
        set.status = 302
        set.headers.location = location
        return ''
      },
      { detail: { summary: 'Come back from a provider', responses: REDIRECT_DOC } },
    )
}
