import type { Clock } from './clock.ts'

/**
 * Short-lived secrets in memory, by the name they are asked for. A restart forgets them, as it may:
 * who asked asks again. Setting the clock changes nothing. One thread reads and deletes without a
 * pause in between, so what is taken is taken once, however many ask at the same time.
 */
export function createExpiring<Value>(clock: Clock, ttlMs: number, countMax: number) {
  // In the order of expiry, for every entry lives equally long and is set anew at the end.
  const held = new Map<string, { readonly value: Value; readonly expiresAt: number }>()

  function dropEnded(now: number) {
    for (const [name, { expiresAt }] of held) {
      if (expiresAt > now && held.size < countMax) return
      held.delete(name)
    }
  }

  return {
    set(name: string, value: Value): void {
      const now = clock.steady()
      dropEnded(now)
      held.delete(name)
      held.set(name, { value, expiresAt: now + ttlMs })
    },
    get(name: string): Value | null {
      const found = held.get(name)
      return found && found.expiresAt > clock.steady() ? found.value : null
    },
    delete: (name: string): void => void held.delete(name),
  }
}
