import type { AgentEvent } from '../../api/types.ts'

interface Batch {
  readonly events: readonly AgentEvent[]
  readonly at: number
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
    add(events: readonly AgentEvent[]) {
      waiting.push({ events, at: performance.now() })
      if (frame === 0) frame = requestAnimationFrame(flush)
    },
  }
}
