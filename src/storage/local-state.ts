import type { Clock } from '../core/clock.ts'
import { RATE_WINDOWS_MAX } from '../core/limits/machine.ts'
import type { RateWindows, Standing } from '../core/rate-windows.ts'
import { createSemaphore } from '../core/semaphore.ts'
import type { CodeLife, Fence, Lease, Leases, OneTimeCodes, SharedState } from './shared-state.ts'

/** The state of a server that is alone on its database: it lives in memory. */
export function createLocalState(clock: Pick<Clock, 'steady'>): SharedState {
  const sessions = createSemaphore({ perKey: 1 })
  return {
    isAlone: true,
    turnOrder: {
      run: (tenantId, sessionId, work, signal) =>
        sessions.run(`${tenantId}/${sessionId}`, () => work(NO_FENCE), signal),
      onGivenUp() {},
    },
    openWindows: (_, windowMs) => createLocalWindows(clock, windowMs),
    openCodes: (_, life) => createLocalCodes(clock, life),
    leases: createLocalLeases(),
    files: { keep: async () => {}, fetch: async () => null, remove: async () => {} },
    announcer: { announce: async () => {}, on() {}, watch() {} },
    close: async () => {},
  }
}

const NO_FENCE: Fence = []
const NO_LEASE: Lease = { release: async () => {} }

function createLocalLeases(): Leases {
  const held = new Set<string>()
  const heldNow = async (prefix: string) => [...held].filter((name) => name.startsWith(prefix))
  return {
    async hold(name, signal, work) {
      if (held.has(name)) return false
      held.add(name)
      try {
        await work(signal)
      } finally {
        held.delete(name)
      }
      return true
    },
    seize: () => NO_LEASE,
    heldElsewhere: async () => [],
    held: heldNow,
    heldByLiving: heldNow,
  }
}

interface Window {
  /** On the steady clock. */
  readonly startedAt: number
  used: number
}

/**
 * Windows in the memory of this process: a restart clears them. There are at most
 * `RATE_WINDOWS_MAX`. Unknown clients can begin any number, so beyond it open ones are dropped,
 * too: the oldest of those below half of their limit, and only without any the oldest of the
 * others. So a flood of names with few events each makes no subject near its limit begin anew.
 */
function createLocalWindows(clock: Pick<Clock, 'steady'>, windowMs: number): RateWindows {
  // Each about in the order of their start, so that ended windows come first.
  const low = new Map<string, Window>()
  const high = new Map<string, Window>()

  const isOpen = ({ startedAt }: Window) => clock.steady() - startedAt < windowMs

  /** Drops ended windows, and open ones only while there are too many. */
  function makeRoom(): void {
    for (const windows of [low, high]) {
      for (const [subject, window] of windows) {
        if (isOpen(window) && low.size + high.size < RATE_WINDOWS_MAX) break
        windows.delete(subject)
      }
    }
  }

  function remove(subject: string): void {
    low.delete(subject)
    high.delete(subject)
  }

  function openWindow(subject: string): Window | null {
    const current = high.get(subject) ?? low.get(subject)
    return current && isOpen(current) ? current : null
  }

  function begin(subject: string): Window {
    remove(subject)
    makeRoom()
    const window = { startedAt: clock.steady(), used: 0 }
    low.set(subject, window)
    return window
  }

  const standing = ({ startedAt, used }: Window, counted: boolean): Standing => ({
    counted,
    used,
    msLeft: startedAt + windowMs - clock.steady(),
  })

  return {
    count(subject, limit) {
      const window = openWindow(subject) ?? begin(subject)
      const counted = window.used < limit
      if (counted) window.used += 1
      if (window.used >= limit / 2 && low.delete(subject)) high.set(subject, window)
      return standing(window, counted)
    },

    look(subject, limit) {
      const window = openWindow(subject) ?? { startedAt: clock.steady(), used: 0 }
      return standing(window, window.used < limit)
    },

    giveBack(subject) {
      const window = openWindow(subject)
      if (!window) return
      window.used -= 1
      if (window.used <= 0) remove(subject)
    },
  }
}

interface HeldCode {
  readonly value: string
  readonly owner: string
  /** On the steady clock. */
  readonly until: number
  tries: number
}

/** Codes in the memory of this process: a restart forgets them all. */
function createLocalCodes(
  clock: Pick<Clock, 'steady'>,
  { ttlMs, countMax, perOwnerMax = countMax }: CodeLife,
): OneTimeCodes {
  // In order of expiry: all codes are valid equally long, and `put` moves one to the end.
  const codes = new Map<string, HeldCode>()
  const perOwner = new Map<string, number>()

  function remove(name: string): void {
    const held = codes.get(name)
    if (!held) return
    codes.delete(name)
    const left = (perOwner.get(held.owner) ?? 1) - 1
    if (left > 0) perOwner.set(held.owner, left)
    else perOwner.delete(held.owner)
  }

  function removeEnded(): void {
    for (const [name, { until }] of codes) {
      if (until > clock.steady()) return
      remove(name)
    }
  }

  function makeRoom(owner: string): void {
    if ((perOwner.get(owner) ?? 0) >= perOwnerMax) removeOldest(owner)
    if (codes.size < countMax) return
    const [busiest] = [...perOwner].reduce((a, b) => (b[1] > a[1] ? b : a))
    removeOldest(busiest)
  }

  function removeOldest(owner: string): void {
    for (const [name, held] of codes) {
      if (held.owner !== owner) continue
      remove(name)
      return
    }
  }

  function find(name: string): HeldCode | null {
    const held = codes.get(name)
    return held && held.until > clock.steady() ? held : null
  }

  return {
    put(name, value, owner = '') {
      removeEnded()
      remove(name)
      makeRoom(owner)
      codes.set(name, { value, owner, until: clock.steady() + ttlMs, tries: 0 })
      perOwner.set(owner, (perOwner.get(owner) ?? 0) + 1)
    },

    read: (name) => find(name)?.value ?? null,

    take(name) {
      const held = find(name)
      remove(name)
      return held?.value ?? null
    },

    attempt(name, triesMax) {
      const held = find(name)
      if (!held || held.tries >= triesMax) return null
      held.tries += 1
      return held.value
    },
  }
}
