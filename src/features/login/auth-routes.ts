import { Elysia } from 'elysia'
import type { Gate } from '../../http/gate.ts'
import type { Origins } from '../../http/origin.ts'
import { type NativeRouteParts, nativeRoutes } from './native-routes.ts'
import { type OAuthRouteParts, oauthRoutes } from './oauth-routes.ts'
import { type LoginRouteParts, loginRoutes } from './routes.ts'

export interface AuthParts extends LoginRouteParts, OAuthRouteParts, NativeRouteParts {
  readonly origins: Origins
}

/**
 * All of `/auth`: nothing of it is kept by caches, and pages of other origins may not post to it,
 * signed in or not, for that could sign a person in as somebody else.
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
