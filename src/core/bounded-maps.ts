import type { Clock } from './clock.ts'

interface Entry<Value> {
  readonly name: string
  readonly value: Value
  readonly size: number
  older: Entry<Value> | null
  newer: Entry<Value> | null
}

/**
 * Keeps values up to a total size and evicts the least recently used first. `sizeOf` is called once
 * for each value that is put; its unit is that of `sizeMax`. `onDrop` gets each value that goes.
 *
 * The entries are a list of their own, because the order of a Map costs too much to change: the
 * engine copies the whole Map for every few entries that are deleted and set again, which takes
 * 13 us a look-up where one of 10,000 entries is in use.
 */
export function leastRecentlyUsed<Value>(
  sizeMax: number,
  sizeOf: (value: Value) => number,
  onDrop: (value: Value) => void = () => {},
) {
  const entries = new Map<string, Entry<Value>>()
  let oldest: Entry<Value> | null = null
  let newest: Entry<Value> | null = null
  let total = 0

  function unlink({ older, newer }: Entry<Value>): void {
    if (older) older.newer = newer
    else oldest = newer
    if (newer) newer.older = older
    else newest = older
  }

  function append(entry: Entry<Value>): void {
    entry.older = newest
    entry.newer = null
    if (newest) newest.newer = entry
    else oldest = entry
    newest = entry
  }

  function drop(name: string): void {
    const entry = entries.get(name)
    if (!entry) return
    total -= entry.size
    entries.delete(name)
    unlink(entry)
    onDrop(entry.value)
  }

  return {
    get(name: string): Value | undefined {
      const entry = entries.get(name)
      if (!entry) return undefined
      if (entry !== newest) {
        unlink(entry)
        append(entry)
      }
      return entry.value
    },
    put(name: string, value: Value): void {
      drop(name)
      const entry = { name, value, size: sizeOf(value), older: null, newer: null }
      entries.set(name, entry)
      append(entry)
      total += entry.size
      while (oldest && total > sizeMax) drop(oldest.name)
    },
    drop,
    clear(): void {
      const all = [...entries.values()]
      entries.clear()
      oldest = null
      newest = null
      total = 0
      for (const { value } of all) onDrop(value)
    },
  }
}

/**
 * Short-lived values in memory by name. Expiry follows the steady clock, so setting the wall clock
 * changes nothing; beyond `countMax` the oldest entries go; a restart forgets them all. A caller
 * that deletes an entry right after `get`, without an await, is the only one that gets it.
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
