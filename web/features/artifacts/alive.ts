import { createContext } from 'react'

/** More frames than this would fill the memory of a phone; the others sleep. */
const ALIVE_MAX = 8

export interface Held {
  readonly sleep: () => void
  readonly isInView: () => boolean
}

/** Which frames of the page are alive, the one that woke first first. */
function createAlive(max = ALIVE_MAX) {
  const held = new Set<Held>()
  return {
    /** Wakes one, and lets another sleep where that is one too many. */
    wake(one: Held): void {
      held.delete(one)
      const others = [...held]
      const tired = others.find(({ isInView }) => !isInView()) ?? others[0]
      held.add(one)
      if (held.size <= max || !tired) return
      held.delete(tired)
      tired.sleep()
    },
    drop(one: Held): void {
      held.delete(one)
    },
  }
}

export const Alive = createContext(createAlive())
