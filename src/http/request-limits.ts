import { appError, type RateLimitCode } from '../core/errors.ts'
import { BODY_COST, BODY_MS_MAX, IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import { BudgetExceeded, type MemoryBudget, type MemoryShare } from '../core/memory-budget.ts'
import type { Principal } from '../core/principal.ts'
import type { RateWindows, Standing } from '../core/rate-windows.ts'
import { addressGroup, type ClientAddress, type SocketAddresses } from './client-address.ts'

const secondsLeft = ({ msLeft }: Standing) => Math.max(1, Math.ceil(msLeft / 1000))

/** Rounded up to at least 1 second. */
function limited(
  standing: Standing,
  code: RateLimitCode = 'rate_limited',
  headers: Record<string, string> = {},
) {
  const retryAfter = String(secondsLeft(standing))
  return appError(code, {}, { headers: { ...headers, 'retry-after': retryAfter } })
}

/**
 * Limits over windows of 60 seconds that begin with a subject's first request, or of another
 * length.
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

/** The part of a listening server that closes connections. */
export interface Connections {
  timeout(request: Request, seconds: number): void
}

/**
 * Called with 0 before the first chunk of a body and with the size of each chunk. Throws 400 when
 * the body takes too long, and 503 when there is no memory for it.
 */
export type BodyTimer = (bytes: number) => void

export interface BodyTimerOptions {
  /** Milliseconds on the steady clock. */
  readonly steady: () => number
  readonly memory: Pick<RequestMemory, 'add'>
  readonly stallSeconds?: number
  readonly bodyMsMax?: number
}

/**
 * Resets the idle timeout on every chunk, up to a total limit. Authenticated requests only. Without
 * it Bun counts from the last byte that it sent, and closes a slow upload in the middle.
 */
export function createBodyTimers(options: BodyTimerOptions) {
  const { steady, memory, stallSeconds = IDLE_SECONDS_MAX, bodyMsMax = BODY_MS_MAX } = options
  return (request: Request, server: Connections | null, owner: string): BodyTimer => {
    const since = steady()
    return (bytes) => {
      if (steady() - since > bodyMsMax) throw appError('body_too_slow')
      if (bytes > 0) memory.add(request, owner, bytes)
      server?.timeout(request, stallSeconds)
    }
  }
}

/**
 * Runs `work` with the idle timeout disabled and restores it afterwards, so that the connection of
 * a dead client is still closed.
 */
export async function withoutIdleTimeout<Result>(
  request: Request,
  server: Connections | null,
  work: () => Promise<Result>,
): Promise<Result> {
  server?.timeout(request, 0)
  try {
    return await work()
  } finally {
    server?.timeout(request, IDLE_SECONDS_MAX)
  }
}

/** 503 where the budget is exceeded; any other error is returned as it is. */
export const memoryFull = (error: unknown): unknown =>
  error instanceof BudgetExceeded
    ? appError('memory_full', {}, { headers: { 'retry-after': '1' } })
    : error

interface HeldBody {
  readonly share: MemoryShare
  /** How many still need the body: the request itself, and a stream that answers it. */
  uses: number
}

/**
 * Counts the large bodies of requests in the memory budget, piece by piece as they arrive, until
 * their request is answered completely. A body that is only announced takes nothing.
 */
export function createRequestMemory(budget: MemoryBudget) {
  const bodies = new WeakMap<Request, HeldBody>()

  function drop(held: HeldBody): void {
    held.uses -= 1
    if (held.uses === 0) held.share.close()
  }

  return {
    /** Counts a piece that has arrived. Throws `memory_full` when the budget is spent. */
    add(request: Request, owner: string, bytes: number): void {
      const held = bodies.get(request) ?? { share: budget.open(owner), uses: 1 }
      bodies.set(request, held)
      try {
        held.share.add(bytes * BODY_COST)
      } catch (error) {
        throw memoryFull(error)
      }
    },

    /** Keeps the body counted until the returned function is called, beyond `release`. */
    keep(request: Request): () => void {
      const held = bodies.get(request)
      if (!held) return () => {}
      held.uses += 1
      return () => drop(held)
    },

    /** Called when the request is answered, or its stream has begun. */
    release(request: Request): void {
      const held = bodies.get(request)
      if (held) drop(held)
    },
  }
}

export type RequestMemory = ReturnType<typeof createRequestMemory>

/** A client that was told 503 comes back after a second (`Retry-After`), perhaps a few times. */
const CLAIM_MS = 10_000

/**
 * Open streams, in all and by owner (a tenant with all its keys). The rule keeps every slot in use:
 * an owner that is alone may take them all. An owner below its equal share that finds no slot
 * leaves a claim, and while a claim stands, owners at or above their share get no further slot. So
 * the next free slots go to owners that have few.
 */
export function createStreamSlots(most: () => number, steady: () => number) {
  const held = new Map<string, number>()
  /** Until when the claim of an owner stands. */
  const claims = new Map<string, number>()
  let open = 0

  function dropEndedClaims(): void {
    for (const [owner, end] of claims) if (end <= steady()) claims.delete(owner)
  }

  /** An equal part of the slots for each owner that has some or asks for some. */
  function shareOf(owner: string): number {
    const others = [...claims.keys()].filter((one) => one !== owner && !held.has(one)).length
    return most() / (held.size + others + (held.has(owner) ? 0 : 1))
  }

  return {
    /** Throws `too_many_streams` when there is no slot for this owner. */
    check(owner: string): void {
      dropEndedClaims()
      const isBelowShare = (held.get(owner) ?? 0) < shareOf(owner)
      const othersClaim = claims.size > (claims.has(owner) ? 1 : 0)
      if (open < most() && (isBelowShare || !othersClaim)) return
      if (isBelowShare) claims.set(owner, steady() + CLAIM_MS)
      throw appError('too_many_streams', {}, { headers: { 'retry-after': '1' } })
    },

    /** Takes a slot, to be given back once. */
    take(owner: string): void {
      open += 1
      held.set(owner, (held.get(owner) ?? 0) + 1)
    },

    giveBack(owner: string): void {
      open -= 1
      const left = (held.get(owner) ?? 1) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
    },
  }
}
