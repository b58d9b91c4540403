import type { Clock } from '../core/clock.ts'
import { appError, type RateLimitCode } from '../core/errors.ts'
import { RATE_WINDOW_MS } from '../core/limits/contract.ts'
import { RATE_WINDOWS_MAX } from '../core/limits/machine.ts'
import type { Principal } from '../core/principal.ts'
import { addressGroup, type ClientAddress, type SocketAddresses } from './client-address.ts'

/** `seconds` until a slot is free; rounded up to at least 1 (specification, Errors 429). */
function limited(
  seconds: number,
  code: RateLimitCode = 'rate_limited',
  headers: Record<string, string> = {},
) {
  const retryAfter = String(Math.max(1, Math.ceil(seconds)))
  return appError(code, {}, { headers: { ...headers, 'retry-after': retryAfter } })
}

interface Window {
  /** On the steady clock, which nobody sets. */
  readonly startedAt: number
  used: number
}

/**
 * Fixed windows of 60 seconds that begin with a subject's first request (specification, Limits).
 * They live in memory: a restart forgives, and several servers would share them behind this
 * interface.
 */
export function createRateLimiter(clock: Pick<Clock, 'steady'>, windowMs = RATE_WINDOW_MS) {
  // In order of their start, so ended windows are at the front.
  const windows = new Map<string, Window>()

  const isOpen = ({ startedAt }: Window) => clock.steady() - startedAt < windowMs
  const secondsLeft = ({ startedAt }: Window) =>
    Math.max(1, Math.ceil((startedAt + windowMs - clock.steady()) / 1000))

  /** Drops open windows, too, beyond the maximum: strangers can begin any number of them. */
  function dropEnded() {
    for (const [subject, window] of windows) {
      if (isOpen(window) && windows.size < RATE_WINDOWS_MAX) return
      windows.delete(subject)
    }
  }

  function windowOf(subject: string): Window {
    const current = windows.get(subject)
    if (current && isOpen(current)) return current
    dropEnded()
    const fresh = { startedAt: clock.steady(), used: 0 }
    windows.set(subject, fresh)
    return fresh
  }

  return {
    /**
     * Takes one slot and returns the headers that tell the caller where it stands; 0 is unlimited
     * and has none. Throws `rate_limited` with the same headers and `Retry-After`.
     */
    take(subject: string, limit: number, code?: RateLimitCode): Record<string, string> {
      if (limit === 0) return {}
      const window = windowOf(subject)
      const seconds = secondsLeft(window)
      const allowed = window.used < limit
      if (allowed) window.used += 1
      const headers = {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(limit - window.used),
        'x-ratelimit-reset': String(seconds),
      }
      if (!allowed) throw limited(seconds, code, headers)
      return headers
    },

    /** Throws `rate_limited` when `limit` slots are taken; takes none itself. */
    check(subject: string, limit: number, code?: RateLimitCode): void {
      const window = windows.get(subject)
      if (!window || window.used < limit || !isOpen(window)) return
      throw limited(secondsLeft(window), code)
    },

    /** Whether `limit` slots are taken; takes none itself. */
    isSpent(subject: string, limit: number): boolean {
      const window = windows.get(subject)
      return window !== undefined && window.used >= limit && isOpen(window)
    },

    /** Takes a slot, whatever the limit. */
    count(subject: string): void {
      windowOf(subject).used += 1
    },
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
  ({ request, server, set }: Caller): void => {
    const subject = `${name} ${addressGroup(clientAddress(request, server))}`
    Object.assign(set.headers, limiter.take(subject, limit))
  }

export type AddressLimit = ReturnType<typeof addressLimit>

/** Requests a minute of one signed-in person; 0 is unlimited. Throws `rate_limited`. */
export const personLimit =
  (limiter: RateLimiter, name: string, most: number) =>
  ({ userId }: Principal): void =>
    void limiter.take(`${name} ${userId}`, most)

export type PersonLimit = ReturnType<typeof personLimit>

/**
 * Counts wrong guesses by client address, no matter whose secret they are at. `check` throws
 * `rate_limited` for an address with too many; `count` adds one.
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
