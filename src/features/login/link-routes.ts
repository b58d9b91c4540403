import { Elysia } from 'elysia'
import { LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { REDIRECT_DOC } from '../../http/openapi-parts.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { Links } from './link-store.ts'
import type { SignupPolicy } from './signup-policy.ts'

export interface LinkRouteParts {
  readonly links: Pick<Links, 'take'>
  readonly signup: Pick<SignupPolicy, 'admit'>
  readonly sessions: Pick<ConsoleSessions, 'cookieFor'>
  readonly addressLimit: AddressLimit
}

/** The way in that an operator prints at the terminal, whatever ways the server allows. */
export function linkRoutes({ links, signup, sessions, addressLimit }: LinkRouteParts) {
  const limit = addressLimit('login link', LOGIN_STEPS_PER_MINUTE_MAX)
  return new Elysia({ name: 'login-link' }).get(
    '/link/:token',
    async ({ request, server, set, params }) => {
      await limit({ request, server, set })
      // Programs look at links before a person opens them; a look spends nothing.
      const email = request.method === 'HEAD' ? null : await links.take(params.token)
      const user = email === null ? null : await signup.admit(email)
      if (user) set.headers['set-cookie'] = sessions.cookieFor(user, request)
      set.headers['referrer-policy'] = 'no-referrer'
      set.headers.location = user ? '/' : '/login?error=expired'
      set.status = 302
      return ''
    },
    {
      detail: {
        summary: 'Log in by a link of the terminal or of an operator',
        responses: REDIRECT_DOC,
      },
    },
  )
}
