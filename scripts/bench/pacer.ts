type Task = () => void

/**
 * Runs thousands of timed tasks from one timer, in slots of a millisecond. One timer for each
 * stream would cost the stub more than writing the stream.
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
      for (const task of tasks) task()
    }
    running = slots.size > 0
    if (running) setTimeout(turn, 1)
  }

  return {
    /** Calls `task` at `due` (`performance.now()`), at once when that time has passed. */
    at(due: number, task: Task) {
      if (!running) {
        running = true
        last = Math.floor(performance.now())
        setTimeout(turn, 1)
      }
      const slot = Math.max(Math.ceil(due), last)
      const tasks = slots.get(slot)
      if (tasks) tasks.push(task)
      else slots.set(slot, [task])
    },
  }
}
