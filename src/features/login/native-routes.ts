import { Elysia } from 'elysia'
import { BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits.ts'
import type { AddressLimit } from '../../http/address-limit.ts'
import { readJson } from '../../http/body.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import { ExchangeRequest, ExchangeResponse } from './model.ts'
import type { NativeLogin } from './native.ts'

export interface NativeRouteParts {
  readonly native: NativeLogin
  readonly sessions: ConsoleSessions
  readonly addressLimit: AddressLimit
}

/** Signing in to a native app with the browser's session (contract, Login). */
export function nativeRoutes({ native, sessions, addressLimit }: NativeRouteParts) {
  const limit = addressLimit('login native', LOGIN_STEPS_PER_MINUTE_MAX)

  return new Elysia({ name: 'login-native' })
    .get('/native/authorize', async ({ request, server, set }) => {
      limit({ request, server, set })
      const asked = native.read(new URL(request.url).searchParams)
      const person = await sessions.find(request)
      set.status = 302
      set.headers.location = person
        ? native.grant(person.tenantId, asked)
        : `/login?next=${encodeURIComponent(native.path(asked))}`
      return ''
    })
    .post(
      '/native/exchange',
      async ({ request, server, set }) => {
        limit({ request, server, set })
        const body = await readJson(request, ExchangeRequest, BODY_BYTES_MAX)
        return native.exchange(body.code, body.code_verifier)
      },
      { parse: 'none', response: ExchangeResponse },
    )
}
