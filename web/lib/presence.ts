import { createContext } from 'react'

const AGAIN_MS = 2_000

/** Whether the server can be reached, as a store outside React. */
export function createPresence(answers: () => Promise<boolean>) {
  let away = false
  let watching: Promise<void> | null = null
  const listeners = new Set<() => void>()
  const set = (next: boolean) => {
    if (away === next) return
    away = next
    for (const listener of listeners) listener()
  }
  async function poll(): Promise<void> {
    while (!(await answers())) {
      set(true)
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
    watching = null
    set(false)
  }
  return {
    isAway: () => away,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /**
     * Polls the server until it answers; to be called after a request that did not reach it.
     * Resolves when it has answered, also for a call during the polling.
     */
    watch(): Promise<void> {
      watching ??= poll()
      return watching
    },
  }
}

export type Presence = ReturnType<typeof createPresence>

export const PresenceContext = createContext<Presence | null>(null)
