interface Task {
  readonly due: number
  readonly run: () => void
}

/**
 * Runs thousands of timed tasks from one timer, in slots of a millisecond; a timer for each stream
 * would cost the stub more than writing the stream does.
 */
export function createPacer() {
  const slots = new Map<number, Task[]>()
  let last = 0
  let running = false

  function turn() {
    const now = Math.floor(performance.now())
    for (; last <= now; last++) {
      const tasks = slots.get(last)
      if (!tasks) continue
      slots.delete(last)
      for (const task of tasks) task.run()
    }
    running = slots.size > 0
    if (running) setTimeout(turn, 1)
  }

  return {
    /** Calls `run` at `due` of `performance.now()`, at once when that has passed. */
    at(due: number, run: () => void) {
      if (!running) {
        running = true
        last = Math.floor(performance.now())
        setTimeout(turn, 1)
      }
      const slot = Math.max(Math.ceil(due), last)
      const tasks = slots.get(slot)
      if (tasks) tasks.push({ due, run })
      else slots.set(slot, [{ due, run }])
    },
  }
}

export type Pacer = ReturnType<typeof createPacer>
