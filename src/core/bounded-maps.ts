import type { Clock } from './clock.ts'

/**
 * Keeps values up to a total size and evicts the least recently used first. `sizeOf` is called once
 * for each value that is put; its unit is that of `sizeMax`.
 */
export function leastRecentlyUsed<Value>(sizeMax: number, sizeOf: (value: Value) => number) {
  const entries = new Map<string, { readonly value: Value; readonly size: number }>()
  let total = 0

  function drop(name: string): void {
    const entry = entries.get(name)
    if (!entry) return
    total -= entry.size
    entries.delete(name)
  }

  return {
    get(name: string): Value | undefined {
      const entry = entries.get(name)
      if (!entry) return undefined
      entries.delete(name)
      entries.set(name, entry)
      return entry.value
    },
    put(name: string, value: Value): void {
      drop(name)
      const size = sizeOf(value)
      entries.set(name, { value, size })
      total += size
      for (const oldest of entries.keys()) {
        if (total <= sizeMax) break
        drop(oldest)
      }
    },
    drop,
    clear(): void {
      entries.clear()
      total = 0
    },
  }
}

/**
 * Short-lived values in memory by name. Expiry follows the steady clock, so setting the wall clock
 * changes nothing; beyond `countMax` the oldest entries go; a restart forgets them all. `get` and
 * `delete` run without a wait between them, so of many takers at the same time one succeeds.
 */
export function createTtlMap<Value>(clock: Pick<Clock, 'steady'>, ttlMs: number, countMax: number) {
  // In order of expiry: all entries live equally long, and `set` moves an entry to the end.
  const entries = new Map<string, { readonly value: Value; readonly expiresAt: number }>()

  function dropExpired(now: number) {
    for (const [name, { expiresAt }] of entries) {
      if (expiresAt > now && entries.size < countMax) return
      entries.delete(name)
    }
  }

  return {
    set(name: string, value: Value): void {
      const now = clock.steady()
      dropExpired(now)
      entries.delete(name)
      entries.set(name, { value, expiresAt: now + ttlMs })
    },
    get(name: string): Value | null {
      const found = entries.get(name)
      return found && found.expiresAt > clock.steady() ? found.value : null
    },
    delete: (name: string): void => void entries.delete(name),
  }
}
