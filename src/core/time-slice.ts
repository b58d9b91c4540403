import { setPriority } from 'node:os'
import { createSemaphore } from './semaphore.ts'

/** The longest that one piece of work holds the event loop before others get their turn. */
export const SLICE_MS = 4

/**
 * The shared rule for work that takes the processor on the event loop (SECURITY.md, Work): it asks
 * now and then whether its slice is over, and if so lets all other events pass first.
 *
 *     const slice = timeSlice(clock.steady)
 *     for (const item of items) {
 *       work(item)
 *       if (slice.isOver()) await slice.next()
 *     }
 *
 * One step between two questions must stay well below `SLICE_MS`; what cannot be cut into such
 * steps belongs in a thread or a process of its own.
 */
export function timeSlice(steady: () => number) {
  let end = steady() + SLICE_MS
  return {
    isOver: (): boolean => steady() >= end,
    async next(): Promise<void> {
      await new Promise<void>((resolve) => setImmediate(resolve))
      end = steady() + SLICE_MS
    },
  }
}

export type TimeSlice = ReturnType<typeof timeSlice>

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

/**
 * Work beside the server runs at this niceness (sched(7)): where cores are few, the server then
 * gets nine times the processor time of such a thread, and streams keep their pace.
 */
const NICENESS = 10

/** Lowers the priority of this process. */
export const lowerProcessPriority = (): void => setPriority(NICENESS)

/** Lowers the priority of this thread. Only Linux has one for each thread; elsewhere it stays. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(NICENESS)
}
