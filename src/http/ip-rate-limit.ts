import { addressGroup, type ClientAddress, type SocketAddresses } from './client-address.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface Caller {
  readonly request: Request
  readonly server: SocketAddresses | null
  readonly set: { headers: Record<string, string | number | string[]> }
}

/**
 * Requests a minute and client address, for routes without a credential. Each `name` is a count of
 * its own. Throws `rate_limited`; else the answer tells where the caller stands.
 */
export const addressLimit =
  (limiter: RateLimiter, clientAddress: ClientAddress) =>
  (name: string, limit: number) =>
  ({ request, server, set }: Caller): void => {
    const subject = `${name} ${addressGroup(clientAddress(request, server))}`
    Object.assign(set.headers, limiter.take(subject, limit))
  }

export type AddressLimit = ReturnType<typeof addressLimit>

/**
 * Wrong guesses of one client address, at whomever's secret. `check` throws `rate_limited` for an
 * address that has made too many; `count` adds one.
 */
export const guessLimit =
  (limiter: RateLimiter, clientAddress: ClientAddress, most: number) =>
  ({ request, server }: Omit<Caller, 'set'>) => {
    const subject = addressGroup(clientAddress(request, server))
    return {
      check: (): void => limiter.check(subject, most),
      count: (): void => limiter.count(subject),
    }
  }

export type GuessLimit = ReturnType<typeof guessLimit>
