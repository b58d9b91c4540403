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

const Claims = z.object({
  sub: z.string().min(1),
  iat: z.number(),
  exp: z.number(),
  epoch: z.int().default(0),
})

/** Whom a session is for. */
export interface SessionSubject {
  readonly userId: string
  /** Sessions of an earlier epoch of the person have ended. */
  readonly epoch: number
}

/**
 * Console sessions as signed tokens (JWT with HS256, RFC 7519) that hold a user id and its epoch:
 * the server keeps no list of them (specification, Console side). Signing and verifying are
 * synchronous. jose reads the parts and does not sign: its `crypto.subtle` waits for a thread of
 * the pool that also resolves host names, and a name server that does not answer would keep
 * everybody from signing in.
 */
export function createSessionTokens({ secret, clock }: { secret: Uint8Array; clock: Clock }) {
  const key = deriveKey(secret, 'session')
  return {
    issue({ userId, epoch }: SessionSubject): string {
      const iat = Math.floor(clock.now() / 1000)
      const payload = encodePart({ sub: userId, iat, exp: iat + SESSION_SECONDS_MAX, epoch })
      return `${HEADER}.${payload}.${hmacBase64Url(key, `${HEADER}.${payload}`)}`
    },

    /** Null for whatever is not a valid token of this server. */
    read(token: string): SessionSubject | null {
      if (token.length > TOKEN_CHARS_MAX) return null
      const [header, payload, signature, ...rest] = token.split('.')
      if (header !== HEADER || !payload || !signature || rest.length > 0) return null
      if (!sameSecret(signature, hmacBase64Url(key, `${header}.${payload}`))) return null
      const claims = Claims.safeParse(decodeJwt(token)).data
      if (!claims) return null
      const seconds = clock.now() / 1000
      // A clock that a time server sets back by some hours must not sign anybody out.
      const isFromFuture = claims.iat - seconds > CLOCK_BACK_SECONDS_MAX
      if (isFromFuture || claims.exp <= Math.floor(seconds)) return null
      return { userId: claims.sub, epoch: claims.epoch }
    },
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>

function encodePart(value: object): string {
  return encode(JSON.stringify(value))
}
