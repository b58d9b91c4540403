import type { Clock } from './clock.ts'
import type { Awaitable } from './rate-windows.ts'

/**
 * Values by name that are taken once and expire. Callers pass hashes of codes, as names or as
 * values: where several processes share them, they lie on a disk as they were passed.
 */
export interface OneTimeCodes {
  /** Keeps a value, in place of one of the same name. `owner` is who asked for it. */
  put(name: string, value: string, owner?: string): Awaitable<void>
  /** The value, which stays; null when there is none. */
  read(name: string): Awaitable<string | null>
  /** The value, which is removed; of simultaneous callers only one gets it. */
  take(name: string): Awaitable<string | null>
  /** The value, for one of the first `triesMax` tries; null for a later one. */
  attempt(name: string, triesMax: number): Awaitable<string | null>
}

export interface CodeLife {
  readonly ttlMs: number
  /** Beyond it the owner with the most codes loses the oldest, so a flood displaces only itself. */
  readonly countMax: number
}

/** Makes the codes of one kind; `kind` tells them apart where they are shared. */
export type OpenCodes = (kind: string, life: CodeLife) => OneTimeCodes

interface Held {
  readonly value: string
  readonly owner: string
  /** On the steady clock. */
  readonly until: number
  tries: number
}

/** Codes in the memory of this process: a restart forgets them all. */
export function createOneTimeCodes(
  clock: Pick<Clock, 'steady'>,
  { ttlMs, countMax }: CodeLife,
): OneTimeCodes {
  // In order of expiry: all live equally long, and `put` moves a code to the end.
  const codes = new Map<string, Held>()
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

  function makeRoom(): void {
    if (codes.size < countMax) return
    const [busiest] = [...perOwner].reduce((a, b) => (b[1] > a[1] ? b : a))
    for (const [name, { owner }] of codes) {
      if (owner !== busiest) continue
      remove(name)
      return
    }
  }

  function find(name: string): Held | null {
    const held = codes.get(name)
    return held && held.until > clock.steady() ? held : null
  }

  return {
    put(name, value, owner = '') {
      removeEnded()
      remove(name)
      makeRoom()
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
