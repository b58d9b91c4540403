import { Elysia } from 'elysia'
import { appError } from '../core/errors.ts'
import type { Principal, PrincipalKind } from '../core/principal.ts'
import type { UploadContext, Uploads } from './body.ts'
import type { RequestContexts } from './observe.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface Admission {
  readonly principal: Principal
  /** Added to the answer, such as the three rate-limit headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Throws 401 when the credential was revoked meanwhile; absent where none can be. */
  readonly confirm?: () => Promise<void>
}

const nothing = async () => {}

/** Keys of apps and devices are told that they cannot manage (specification, Errors 403). */
const refusalOf = (kind: PrincipalKind) =>
  appError(kind === 'app' || kind === 'device' ? 'forbidden_key_kind' : 'forbidden', { who: kind })

/**
 * A credential gate: who is asking, then what that kind of credential may do. Both run before any
 * body is read (contract, Order of checks). The machine side and the console side have one gate
 * each, so neither side ever looks at the credentials of the other.
 */
export const gate = (
  name: string,
  admit: (request: Request) => Promise<Admission>,
  uploads: Uploads,
) =>
  new Elysia({ name: 'gate', seed: name })
    .derive({ as: 'scoped' }, async ({ request, server, set }) => {
      const { principal, headers, confirm = nothing } = await admit(request)
      Object.assign(set.headers, headers)
      const owner = principal.tenantId
      const timer = uploads.timerFor(request, server, owner)
      const parse = (bytes: Uint8Array) => uploads.parse(owner, bytes)
      const upload: UploadContext = { timer, confirm, parse }
      return { principal, upload }
    })
    .macro({
      allow: (kinds: readonly PrincipalKind[]) => ({
        transform: ({ principal }) => {
          if (!principal) throw appError('unauthorized')
          if (!kinds.includes(principal.kind)) throw refusalOf(principal.kind)
        },
        detail: { security: [{ [name]: [] }] },
      }),
    })

export type Gate = ReturnType<typeof gate>

/** What the machine side needs of the key store. */
export interface KnownKey {
  readonly principal: Principal
  /** Requests a minute; 0 is unlimited. */
  readonly rateLimit: number
}

export interface BearerOptions {
  readonly contexts: RequestContexts
  readonly limiter: RateLimiter
  readonly keys: {
    readonly find: (token: string) => Promise<KnownKey | null>
    /** Whether a key that was found has not been revoked since. */
    readonly stillValid: (principal: Principal) => Promise<boolean>
  }
  /** Called for each request with a valid key that is below its rate limit. */
  readonly onAdmitted: (principal: Principal) => void
}

/** RFC 6750, section 3; MCP clients look for it. */
const CHALLENGE = { 'www-authenticate': 'Bearer' }

const invalidKey = () => appError('invalid_key', {}, { headers: CHALLENGE })

const SCHEME = /^Bearer ([\x21-\x7e]{1,200})$/i

/**
 * Admits a Bearer key. Missing, malformed, unknown and revoked keys get the same 401, which takes
 * no rate-limit slot (specification, Machine side; contract, Order of checks).
 */
export const bearer =
  ({ contexts, limiter, keys, onAdmitted }: BearerOptions) =>
  async (request: Request): Promise<Admission> => {
    const token = SCHEME.exec(request.headers.get('authorization') ?? '')?.[1]
    const key = token === undefined ? null : await keys.find(token)
    if (!key?.principal.keyId) throw invalidKey()
    const { principal } = key
    contexts.note(request, { principal })
    const headers = limiter.take(key.principal.keyId, key.rateLimit)
    onAdmitted(principal)
    const confirm = async () => {
      if (!(await keys.stillValid(principal))) throw invalidKey()
    }
    return { principal, headers, confirm }
  }
