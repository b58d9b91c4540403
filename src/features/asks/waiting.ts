import type { Clock } from '../../core/clock.ts'

/** How often a question is looked at that another server may have answered. */
const LOOK_MS = 500

interface Waiting {
  wake(): void
  /** Resolves when the turn has the answer, or waits no longer. */
  readonly over: Promise<void>
}

/** The questions of turns that run in this process. */
export function createWaiting(clock: Pick<Clock, 'after'>, isAlone: boolean) {
  const waiting = new Map<string, Waiting>()

  return {
    /**
     * Asks, and calls `look` when the question may have been answered, until that gives something,
     * or `msMax` is over: then null. Rejects with the signal's reason.
     */
    async until<Found>(
      id: string,
      ask: () => Promise<void> | undefined,
      look: () => Promise<Found | null>,
      { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal },
    ): Promise<Found | null> {
      const { promise: over, resolve: end } = Promise.withResolvers<void>()
      let next = Promise.withResolvers<void>()
      let isLate = false
      const wake = () => next.resolve()
      waiting.set(id, { wake, over })
      const late = () => {
        isLate = true
        wake()
      }
      const cancel = clock.after(msMax, late)
      signal.addEventListener('abort', wake)
      try {
        await ask()
        for (;;) {
          signal.throwIfAborted()
          let isUnknown = !isAlone
          const found = await look().catch((error: unknown) => {
            if (isLate) throw error
            // A database that is away for a moment ends no turn that waits for minutes.
            isUnknown = true
            return null
          })
          if (found !== null || isLate) return found
          const cancelLook = isUnknown ? clock.after(LOOK_MS, wake) : () => {}
          await next.promise
          cancelLook()
          next = Promise.withResolvers()
        }
      } finally {
        signal.removeEventListener('abort', wake)
        cancel()
        waiting.delete(id)
        end()
      }
    },

    /** Wakes the turn, if it runs here; resolves when it has looked. */
    async wake(id: string): Promise<boolean> {
      const one = waiting.get(id)
      one?.wake()
      await one?.over
      return one !== undefined
    },
  }
}
