import { untilAborted } from '../../core/abort.ts'

type QueuedTurn = (waited: boolean) => Promise<void>

/** Lets the turns of one session run one after another, in the order they came (contract, 4). */
export function createTurnQueue() {
  const tails = new Map<string, Promise<unknown>>()

  return {
    /**
     * Runs `turn` when those before it have ended, telling it whether it waited for any, or not at
     * all when the signal aborts first. Settles as the turn does.
     */
    run(name: string, signal: AbortSignal, turn: QueuedTurn): Promise<void> {
      const before = tails.get(name)
      const mine = before ? afterwards(before, signal, turn) : turn(false)
      // One that gave up waiting does not let the next one pass.
      const tail = before ? Promise.allSettled([before, mine]) : mine
      tails.set(name, tail)
      const leave = () => {
        if (tails.get(name) === tail) tails.delete(name)
      }
      tail.then(leave, leave)
      return mine
    },
  }
}

async function afterwards(before: Promise<unknown>, signal: AbortSignal, turn: QueuedTurn) {
  await untilAborted(before, signal)
  if (!signal.aborted) await turn(true)
}
