import { createSemaphore } from './semaphore.ts'
import { timeSlice } from './time-slice.ts'

/**
 * A line for work on the event loop that many owners send in small pieces without end: one piece at
 * a time, owners in turn, and all other events pass whenever a slice is over. A thousand streams of
 * one owner delay a piece of another by one piece, and hold the event loop no longer than one does.
 */
export function createLoopTurns(steady: () => number) {
  const line = createSemaphore({ slots: 1 })
  const slice = timeSlice(steady)
  return <Result>(owner: string, work: () => Promise<Result>): Promise<Result> =>
    line.run(owner, async () => {
      if (slice.isOver()) await slice.next()
      return work()
    })
}

export type LoopTurns = ReturnType<typeof createLoopTurns>
