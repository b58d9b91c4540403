import { Elysia } from 'elysia'
import { ANONYMOUS_BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import { queryDoc, REDIRECT_DOC } from '../../http/openapi-parts.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { checkRole } from '../../http/roles.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { AuditCode } from '../audit/service.ts'
import { ExchangeRequest, ExchangeResponse } from './model.ts'
import type { NativeLogin } from './native-app.ts'

export interface NativeRouteParts {
  readonly native: NativeLogin
  readonly sessions: ConsoleSessions
  readonly addressLimit: AddressLimit
  readonly auditCode: AuditCode
}

const exchangeBody = jsonBody(ExchangeRequest, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })
const AUTHORIZE_QUERY = queryDoc({
  code_challenge: 'base64url of sha256(code_verifier), without padding',
  code_challenge_method: 'S256',
  app_scheme: 'deep-link scheme of the app',
})
const authorizeDoc = {
  summary: 'Hand a one-time code to a native app',
  parameters: AUTHORIZE_QUERY,
  responses: REDIRECT_DOC,
}

/** Signs a native app in with the browser's session (contract, Login). */
export function nativeRoutes({ native, sessions, addressLimit, auditCode }: NativeRouteParts) {
  const limit = addressLimit('login native', LOGIN_STEPS_PER_MINUTE_MAX)

  return new Elysia({ name: 'login-native' })
    .get(
      '/native/authorize',
      async ({ request, server, set }) => {
        await limit({ request, server, set })
        const asked = native.read(new URL(request.url).searchParams)
        const person = await sessions.find(request)
        // The app gets a general key, which may change almost everything.
        if (person) checkRole(person.role, 'editor')
        set.status = 302
        set.headers.location = person
          ? await native.grant({ tenantId: person.tenantId, userId: person.userId }, asked)
          : `/login?next=${encodeURIComponent(native.path(asked))}`
        return ''
      },
      { detail: authorizeDoc },
    )
    .post(
      '/native/exchange',
      async ({ request, server, set }) => {
        await limit({ request, server, set })
        const body = await exchangeBody.read(request)
        const { answer, ...made } = await native.exchange(body.code, body.code_verifier)
        await auditCode(request, server, { ...made, keyId: null, route: '/native/exchange' })
        return answer
      },
      {
        parse: 'none',
        response: ExchangeResponse,
        detail: { summary: 'Exchange the code for a key', requestBody: exchangeBody.doc },
      },
    )
}
