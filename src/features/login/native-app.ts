import { randomToken, sameSecret, sha256Base64Url, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { EXCHANGE_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { EXCHANGE_CODES_MAX } from '../../core/limits/machine.ts'
import type { OpenCodes } from '../../storage/shared-state.ts'
import type { Keys } from '../keys/service.ts'

export interface NativeOptions {
  readonly openCodes: OpenCodes
  readonly keys: Keys
  /** Deep-link schemes that apps may use (MB_APP_SCHEMES). */
  readonly schemes: readonly string[]
}

/** The checked request of a native app. */
export interface NativeRequest {
  readonly challenge: string
  readonly scheme: string
}

/** What a code grants. */
interface Grant {
  readonly tenantId: string
  readonly userId: string | null
  readonly challenge: string
}

/** The signed-in person, and the tenant whose key the app gets. */
type GrantedBy = Pick<Grant, 'tenantId' | 'userId'>

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Gives a native app an API key, by a code in its deep link and PKCE (specification, Login). */
export function createNativeLogin({ openCodes, keys, schemes }: NativeOptions) {
  const life = { ttlMs: EXCHANGE_CODE_SECONDS_MAX * 1000, countMax: EXCHANGE_CODES_MAX }
  const codes = openCodes('exchange code', life)

  return {
    /** Throws a 400 for a malformed or refused parameter. */
    read(query: URLSearchParams): NativeRequest {
      const one = (name: string) => {
        const values = query.getAll(name)
        return values.length === 1 ? (values[0] ?? '') : ''
      }
      const [challenge, scheme] = [one('code_challenge'), one('app_scheme')]
      if (one('code_challenge_method') !== 'S256') throw appError('challenge_method')
      if (!CHALLENGE.test(challenge)) throw appError('challenge_invalid')
      if (!schemes.includes(scheme)) throw appError('app_scheme_refused')
      return { challenge, scheme }
    },

    /** The path to return to after the person has signed in. */
    path: ({ challenge, scheme }: NativeRequest): string =>
      `/auth/native/authorize?${new URLSearchParams({
        code_challenge: challenge,
        code_challenge_method: 'S256',
        app_scheme: scheme,
      })}`,

    /** A deep link with a new code for this tenant. */
    async grant({ tenantId, userId }: GrantedBy, { challenge, scheme }: NativeRequest) {
      const code = randomToken(32)
      await codes.put(
        sha256Hex(code),
        JSON.stringify({ tenantId, userId, challenge } satisfies Grant),
      )
      return `${scheme}://auth/callback?code=${code}`
    },

    /**
     * Spends the code, even when the verifier is wrong. Resolves with the answer and the new key.
     */
    async exchange(code: string, verifier: string) {
      const kept = await codes.take(sha256Hex(code))
      const grant = kept === null ? null : (JSON.parse(kept) as Grant)
      if (!grant || !sameSecret(sha256Base64Url(verifier), grant.challenge)) {
        throw appError('exchange_code_wrong')
      }
      const { tenantId, userId } = grant
      const { id, key } = await keys.issue(tenantId)
      return { answer: { api_key: key, tenant_id: tenantId }, tenantId, userId, target: id }
    },
  }
}

export type NativeLogin = ReturnType<typeof createNativeLogin>
