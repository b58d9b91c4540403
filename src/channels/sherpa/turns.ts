import { orAborted } from '../../core/abort.ts'

/**
 * Lets callers in one after another, in their order, and no more than `callersMax` of them at a
 * time, waiting ones included. `enter` resolves with the function that lets the next one in, with
 * null when there are too many already, and rejects with the signal's reason.
 */
export function createTurns(callersMax: number) {
  let callers = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    async enter(signal: AbortSignal): Promise<(() => void) | null> {
      signal.throwIfAborted()
      if (callers >= callersMax) return null
      callers++
      const before = last
      const { promise: done, resolve } = Promise.withResolvers<void>()
      last = before.then(() => done)
      const leave = () => {
        callers--
        resolve()
      }
      try {
        await orAborted(before, signal)
        return leave
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}
