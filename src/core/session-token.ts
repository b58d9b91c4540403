import type { Clock } from './clock.ts'
import { deriveKey } from './crypto.ts'
import { lazy } from './lazy.ts'
import { SESSION_SECONDS_MAX } from './limits/contract.ts'
import { CLOCK_BACK_SECONDS_MAX } from './limits/machine.ts'

const jose = lazy(() => import('jose'))
const TYPE = 'mb-session+jwt'

/**
 * Console sessions as signed tokens (HS256, RFC 7519) that hold a user id and nothing else: the
 * server keeps no list of them (specification, Console side).
 */
export function createSessionTokens({ secret, clock }: { secret: Uint8Array; clock: Clock }) {
  // Imported once, for importing takes longer than verifying.
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = deriveKey(secret, 'session')
  const key = crypto.subtle.importKey('raw', bytes, hmac, false, ['sign', 'verify'])
  return {
    async issue(userId: string): Promise<string> {
      const seconds = Math.floor(clock.now() / 1000)
      const { SignJWT } = await jose()
      return new SignJWT()
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setSubject(userId)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + SESSION_SECONDS_MAX)
        .sign(await key)
    },

    /** The user id, or null for whatever is not a valid token of this server. */
    async read(token: string): Promise<string | null> {
      const { errors, jwtVerify } = await jose()
      try {
        const { payload } = await jwtVerify(token, await key, {
          algorithms: ['HS256'],
          typ: TYPE,
          requiredClaims: ['sub', 'iat', 'exp'],
          currentDate: new Date(clock.now()),
        })
        // A clock that was set back, as by the time servers after a start, signs nobody out.
        const aheadSeconds = (payload.iat ?? 0) - clock.now() / 1000
        return aheadSeconds > CLOCK_BACK_SECONDS_MAX ? null : (payload.sub ?? null)
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>
