import { appError } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import type { Admission } from './gate.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { Facts } from './request-context.ts'

/** What the machine side needs of the key store. */
export interface KnownKey {
  readonly principal: Principal
  /** Requests a minute; 0 is unlimited. */
  readonly rateLimit: number
}

export interface BearerOptions {
  readonly facts: Facts
  readonly limiter: RateLimiter
  readonly findKey: (token: string) => Promise<KnownKey | null>
  /** Called for every request whose key is valid and has a slot left. */
  readonly onAdmitted: (principal: Principal) => void
}

const SCHEME = /^Bearer ([\x21-\x7e]{1,200})$/i

/**
 * Admits a Bearer key: missing, malformed, unknown and revoked are one and the same 401, which
 * takes no rate-limit slot (specification, Machine side; contract, Order of checks).
 */
export const bearer =
  ({ facts, limiter, findKey, onAdmitted }: BearerOptions) =>
  async (request: Request): Promise<Admission> => {
    const token = SCHEME.exec(request.headers.get('authorization') ?? '')?.[1]
    const find = async () => {
      const key = token === undefined ? null : await findKey(token)
      if (!key?.principal.keyId) throw appError('invalid_key')
      return { ...key, id: key.principal.keyId }
    }
    const key = await find()
    facts.note(request, { principal: key.principal })
    const headers = limiter.take(key.id, key.rateLimit)
    onAdmitted(key.principal)
    return { principal: key.principal, headers, confirm: async () => void (await find()) }
  }
