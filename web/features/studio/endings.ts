import type { Turn } from './turn.ts'

type Listener = (session: string, turn: Turn) => void

/** The talks in which an answer has ended that nobody has looked at yet. */
export function createEndings() {
  let unseen: ReadonlySet<string> = new Set()
  const changed = new Set<() => void>()
  const listeners = new Set<Listener>()
  const set = (next: ReadonlySet<string>) => {
    unseen = next
    for (const listener of changed) listener()
  }
  return {
    tell(session: string, turn: Turn): void {
      for (const listener of listeners) listener(session, turn)
    },
    /** Calls `listener` when an answer has ended in any way; returns the end of that. */
    onEnded(listener: Listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isUnseen: (session: string) => unseen.has(session),
    mark: (session: string) => set(new Set([...unseen, session])),
    /** To be called when a talk is shown, or is no more. */
    see(session: string): void {
      if (unseen.has(session)) set(new Set([...unseen].filter((one) => one !== session)))
    },
    subscribe(listener: () => void) {
      changed.add(listener)
      return () => void changed.delete(listener)
    },
  }
}
