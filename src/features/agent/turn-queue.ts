/** Lets the turns of one session run one after another, in the order they came (contract, 4). */
export function createTurnQueue() {
  const tails = new Map<string, Promise<void>>()

  return {
    /**
     * Resolves with the function that lets the next one go when it is this turn's time, or with
     * null when the signal aborted first.
     */
    async enter(name: string, signal: AbortSignal): Promise<(() => void) | null> {
      const before = tails.get(name)
      const mine = Promise.withResolvers<void>()
      const tail = before ? before.then(() => mine.promise) : mine.promise
      tails.set(name, tail)
      const leave = () => {
        mine.resolve()
        if (tails.get(name) === tail) tails.delete(name)
      }
      if (before) await Promise.race([before, aborted(signal)])
      if (!signal.aborted) return leave
      leave()
      return null
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
