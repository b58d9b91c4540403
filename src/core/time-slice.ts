/** The longest that one piece of work holds the event loop before others get their turn. */
export const SLICE_MS = 8

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
export function timeSlice(steady: () => number, ms = SLICE_MS) {
  let end = steady() + ms
  return {
    isOver: (): boolean => steady() >= end,
    async next(): Promise<void> {
      await new Promise<void>((resolve) => setImmediate(resolve))
      end = steady() + ms
    },
  }
}

export type TimeSlice = ReturnType<typeof timeSlice>
