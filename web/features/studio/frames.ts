import type { StudioEvent } from '../../api/types.ts'

interface Batch {
  readonly events: readonly StudioEvent[]
  readonly at: number
  /** The number of the last event; null where the server does not count them. */
  readonly last: number | null
}

/** Passes events on at most once a frame, so that a fast stream does not render at every token. */
export function gatherFrames(show: (batches: readonly Batch[]) => void) {
  let waiting: Batch[] = []
  let frame = 0
  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    if (waiting.length === 0) return
    const batches = waiting
    waiting = []
    show(batches)
  }
  return {
    flush,
    add(events: readonly StudioEvent[], last: number | null) {
      waiting.push({ events, at: performance.now(), last })
      if (frame === 0) frame = requestAnimationFrame(flush)
    },
  }
}
