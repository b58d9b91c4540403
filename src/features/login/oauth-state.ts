import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { lazy } from '../../core/lazy.ts'
import { OAUTH_FLOW_SECONDS_MAX } from '../../core/limits/machine.ts'

const jose = lazy(() => import('jose'))

const Flow = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
})

/** One visit to a provider's login page: its secrets, and where to go afterwards. */
export type Flow = z.infer<typeof Flow>

/**
 * Visits sealed for a cookie (A256GCM, RFC 7516): only the browser that began one can end it, and
 * the server holds nothing that strangers could fill.
 */
export function createFlows({ clock, key }: { clock: Clock; key: Uint8Array }) {
  return {
    async seal(flow: Flow): Promise<string> {
      const { EncryptJWT } = await jose()
      const seconds = Math.floor(clock.now() / 1000)
      return new EncryptJWT(flow)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + OAUTH_FLOW_SECONDS_MAX)
        .encrypt(key)
    },

    /** Null for whatever this server did not seal, or too long ago. */
    async open(sealed: string): Promise<Flow | null> {
      const { errors, jwtDecrypt } = await jose()
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['iat', 'exp'],
          currentDate: new Date(clock.now()),
        })
        return Flow.safeParse(payload).data ?? null
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

export type Flows = ReturnType<typeof createFlows>
