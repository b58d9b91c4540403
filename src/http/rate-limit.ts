import { appError, type RateLimitCode } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import type { RateWindows, Standing } from '../core/rate-windows.ts'
import { addressGroup, type ClientAddress, type SocketAddresses } from './client-address.ts'

const secondsLeft = ({ msLeft }: Standing) => Math.max(1, Math.ceil(msLeft / 1000))

/** Rounded up to at least 1 second (specification, Errors 429). */
function limited(
  standing: Standing,
  code: RateLimitCode = 'rate_limited',
  headers: Record<string, string> = {},
) {
  const retryAfter = String(secondsLeft(standing))
  return appError(code, {}, { headers: { ...headers, 'retry-after': retryAfter } })
}

/**
 * Limits over windows of 60 seconds that begin with a subject's first request (specification,
 * Limits), or of another length.
 */
export function createRateLimiter(windows: RateWindows) {
  return {
    /**
     * Takes one slot and returns the headers that tell the caller where it stands; 0 is unlimited
     * and has none. Throws `rate_limited` with the same headers and `Retry-After`.
     */
    async take(
      subject: string,
      limit: number,
      code?: RateLimitCode,
    ): Promise<Record<string, string>> {
      if (limit === 0) return {}
      const standing = await windows.count(subject, limit)
      const headers = {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(Math.max(0, limit - standing.used)),
        'x-ratelimit-reset': String(secondsLeft(standing)),
      }
      if (!standing.counted) throw limited(standing, code, headers)
      return headers
    },

    /** Throws `rate_limited` when `limit` slots are taken; takes none itself. */
    async check(subject: string, limit: number, code?: RateLimitCode): Promise<void> {
      const standing = await windows.look(subject, limit)
      if (!standing.counted) throw limited(standing, code)
    },

    /** Takes a slot that may be given back. Throws `rate_limited`. */
    async reserve(subject: string, limit: number, code?: RateLimitCode): Promise<void> {
      const standing = await windows.count(subject, limit)
      if (!standing.counted) throw limited(standing, code)
    },

    giveBack: async (subject: string): Promise<void> => windows.giveBack(subject),
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

export interface Caller {
  readonly request: Request
  readonly server: SocketAddresses | null
  readonly set: { headers: Record<string, string | number | string[]> }
}

/**
 * Limits requests a minute by client address, for routes without a credential; each `name` counts
 * separately. Throws `rate_limited`; otherwise the answer carries the rate-limit headers.
 */
export const addressLimit =
  (limiter: RateLimiter, clientAddress: ClientAddress) =>
  (name: string, limit: number) =>
  async ({ request, server, set }: Caller): Promise<void> => {
    const subject = `${name} ${addressGroup(clientAddress(request, server))}`
    Object.assign(set.headers, await limiter.take(subject, limit))
  }

export type AddressLimit = ReturnType<typeof addressLimit>

/** Requests a minute of one signed-in person; 0 is unlimited. Throws `rate_limited`. */
export const personLimit =
  (limiter: RateLimiter, name: string, most: number) =>
  async ({ userId }: Principal): Promise<void> =>
    void (await limiter.take(`${name} ${userId}`, most))

export type PersonLimit = ReturnType<typeof personLimit>

/**
 * Counts wrong guesses by client address, no matter whose secret they are at. `check` and `reserve`
 * throw `rate_limited` for an address with too many; `reserve` counts one, which `giveBack` takes
 * back when the guess was right.
 */
export const guessLimit =
  (limiter: RateLimiter, clientAddress: ClientAddress, most: number) =>
  ({ request, server }: Omit<Caller, 'set'>) => {
    const subject = addressGroup(clientAddress(request, server))
    return {
      check: (): Promise<void> => limiter.check(subject, most),
      reserve: (): Promise<void> => limiter.reserve(subject, most),
      giveBack: (): Promise<void> => limiter.giveBack(subject),
    }
  }

export type GuessLimit = ReturnType<typeof guessLimit>
