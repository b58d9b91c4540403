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
