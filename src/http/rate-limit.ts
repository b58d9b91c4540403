import type { Clock } from '../core/clock.ts'
import { rateLimited } from '../core/errors.ts'
import { RATE_WINDOW_MS } from '../core/limits/contract.ts'

interface Window {
  startedAt: number
  used: number
}

/**
 * Fixed windows of 60 seconds that begin with a subject's first request (specification, Limits).
 * Lives in memory: a restart forgives, and several servers would share it behind this interface.
 */
export function createRateLimiter(clock: Clock, windowMs = RATE_WINDOW_MS) {
  // In the order of their beginning, so that those which ended are found at the front.
  const windows = new Map<string, Window>()

  function dropEnded(now: number) {
    for (const [subject, { startedAt }] of windows) {
      if (now >= startedAt && now - startedAt < windowMs) return
      windows.delete(subject)
    }
  }

  function windowOf(subject: string, now: number): Window {
    const current = windows.get(subject)
    if (current && now - current.startedAt < windowMs && now >= current.startedAt) return current
    dropEnded(now)
    const fresh = { startedAt: now, used: 0 }
    windows.delete(subject)
    windows.set(subject, fresh)
    return fresh
  }

  /**
   * Takes one slot and returns the headers that tell the caller where it stands; 0 is unlimited and
   * has none. Throws `rate_limited` with the same headers and `Retry-After`.
   */
  function take(subject: string, limit: number, message?: string): Record<string, string> {
    if (limit === 0) return {}
    const now = clock.now()
    const window = windowOf(subject, now)
    const seconds = Math.max(1, Math.ceil((window.startedAt + windowMs - now) / 1000))
    const allowed = window.used < limit
    if (allowed) window.used += 1
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - window.used),
      'x-ratelimit-reset': String(seconds),
    }
    if (!allowed) throw rateLimited(seconds, headers, message)
    return headers
  }

  return {
    take,

    /** Throws `rate_limited` when `limit` slots are taken, and takes none. */
    check(subject: string, limit: number): void {
      const now = clock.now()
      const window = windows.get(subject)
      if (!window || window.used < limit) return
      const passedMs = now - window.startedAt
      if (passedMs >= 0 && passedMs < windowMs) throw rateLimited((windowMs - passedMs) / 1000)
    },

    /** Takes a slot, whatever the limit. */
    count(subject: string): void {
      windowOf(subject, clock.now()).used += 1
    },
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>
