import { encode } from 'jose/base64url'
import { decodeJwt } from 'jose/jwt/decode'
import { z } from 'zod'
import type { Clock } from './clock.ts'
import { deriveKey, hmacBase64Url, sameSecret } from './crypto.ts'
import { SESSION_SECONDS_MAX } from './limits/contract.ts'
import { CLOCK_BACK_SECONDS_MAX } from './limits/machine.ts'

/** The one header that `read` takes, so that no token chooses its algorithm. */
const HEADER = encodePart({ alg: 'HS256', typ: 'mb-session+jwt' })
const TOKEN_CHARS_MAX = 1_000

const Claims = z.object({ sub: z.string().min(1), iat: z.number(), exp: z.number() })

/**
 * Console sessions as signed tokens (JWT with HS256, RFC 7519) that hold a user id and nothing
 * else: the server keeps no list of them (specification, Console side). Signing and verifying are
 * synchronous. jose reads the parts and does not sign: its `crypto.subtle` waits for a thread of
 * the pool that also resolves host names, and a name server that does not answer would keep
 * everybody from signing in.
 */
export function createSessionTokens({ secret, clock }: { secret: Uint8Array; clock: Clock }) {
  const key = deriveKey(secret, 'session')
  return {
    issue(userId: string): string {
      const iat = Math.floor(clock.now() / 1000)
      const payload = encodePart({ sub: userId, iat, exp: iat + SESSION_SECONDS_MAX })
      return `${HEADER}.${payload}.${hmacBase64Url(key, `${HEADER}.${payload}`)}`
    },

    /** The user id, or null for whatever is not a valid token of this server. */
    read(token: string): string | null {
      if (token.length > TOKEN_CHARS_MAX) return null
      const [header, payload, signature, ...rest] = token.split('.')
      if (header !== HEADER || !payload || !signature || rest.length > 0) return null
      if (!sameSecret(signature, hmacBase64Url(key, `${header}.${payload}`))) return null
      const claims = Claims.safeParse(decodeJwt(token)).data
      if (!claims) return null
      const seconds = clock.now() / 1000
      // A clock that a time server sets back by some hours must not sign anybody out.
      const isFromFuture = claims.iat - seconds > CLOCK_BACK_SECONDS_MAX
      return isFromFuture || claims.exp <= Math.floor(seconds) ? null : claims.sub
    },
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>

function encodePart(value: object): string {
  return encode(JSON.stringify(value))
}
