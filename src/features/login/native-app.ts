import type { Clock } from '../../core/clock.ts'
import {
  hmacBase64Url,
  randomToken,
  sameSecret,
  sha256Base64Url,
  sha256Hex,
} from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { EXCHANGE_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { CONSENT_MS_MAX, EXCHANGE_CODES_MAX } from '../../core/limits/machine.ts'
import type { OpenCodes } from '../../storage/shared-state.ts'
import type { Keys } from '../keys/service.ts'
import type { SessionStore } from './session-store.ts'

export interface NativeOptions {
  readonly openCodes: OpenCodes
  readonly keys: Pick<Keys, 'issueHeld'>
  readonly store: Pick<SessionStore, 'ownerMark' | 'holdingMark'>
  /** Signs what a page of consent has shown. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'now'>
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
  readonly userId: string
  readonly challenge: string
  /** The mark of the owner who has consented. */
  readonly mark: string
}

/** The signed-in person, the session in their browser, and the tenant whose key the app gets. */
export interface Consenting {
  readonly tenantId: string
  readonly userId: string
  readonly sessionId: string
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/**
 * Gives a native app an API key, by a code in its deep link and PKCE. Any app of the device may
 * have registered the scheme, so the person is asked first (RFC 8252, 8.6).
 */
export function createNativeLogin(options: NativeOptions) {
  const { openCodes, keys, store, key, clock, schemes } = options
  const life = { ttlMs: EXCHANGE_CODE_SECONDS_MAX * 1000, countMax: EXCHANGE_CODES_MAX }
  const codes = openCodes('exchange code', life)

  /** What a page that this session was shown until then must send back. */
  function proofOf(by: Consenting, { challenge, scheme }: NativeRequest, until: number): string {
    const shown = [by.sessionId, by.userId, by.tenantId, challenge, scheme, until]
    return `${until}.${hmacBase64Url(key, JSON.stringify(shown))}`
  }

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

    /** The link with which the person refuses (RFC 6749, 4.1.2.1). */
    refusal: ({ scheme }: NativeRequest): string => `${scheme}://auth/callback?error=access_denied`,

    /** A proof that this session was shown the page of consent. */
    consent: (by: Consenting, appRequest: NativeRequest): string =>
      proofOf(by, appRequest, clock.now() + CONSENT_MS_MAX),

    /**
     * A deep link with a new code for this tenant. Throws `consent_missing` without the proof of
     * this session, and `forbidden_role` for a person who is no owner.
     */
    async grant(by: Consenting, appRequest: NativeRequest, proof: string): Promise<string> {
      const until = Number.parseInt(proof, 10)
      const isShown = sameSecret(proof, proofOf(by, appRequest, until))
      if (!isShown || until <= clock.now()) throw appError('consent_missing')
      const { tenantId, userId } = by
      const mark = await store.ownerMark(tenantId, userId)
      if (mark === null) throw appError('forbidden_role')
      const code = randomToken(32)
      const { challenge, scheme } = appRequest
      const grant: Grant = { tenantId, userId, challenge, mark }
      await codes.put(sha256Hex(code), JSON.stringify(grant), userId)
      return `${scheme}://auth/callback?code=${code}`
    },

    /**
     * Spends the code, even when the verifier is wrong. Resolves with the answer and the new key.
     * The code is void once the person has not been an owner of the tenant all the time since.
     */
    async exchange(code: string, verifier: string) {
      const kept = await codes.take(sha256Hex(code))
      const grant = kept === null ? null : (JSON.parse(kept) as Grant)
      if (!grant || !sameSecret(sha256Base64Url(verifier), grant.challenge)) {
        throw appError('exchange_code_wrong')
      }
      const { tenantId, userId, mark } = grant
      const hold = store.holdingMark(tenantId, userId, mark ?? '')
      const issued = await keys.issueHeld(tenantId, { personId: userId }, hold)
      if (!issued) throw appError('exchange_code_wrong')
      const { id, key: apiKey } = issued
      return { answer: { api_key: apiKey, tenant_id: tenantId }, tenantId, userId, target: id }
    },
  }
}

export type NativeLogin = ReturnType<typeof createNativeLogin>
