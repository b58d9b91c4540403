import { type Clock, systemClock } from '../../src/core/clock.ts'

/** A clock that stands until it is moved. */
export function handClock() {
  let now = 1000
  let setBy = 0
  let timers: { at: number; task: () => void }[] = []
  const clock: Clock = {
    ...systemClock(),
    now: () => now + setBy,
    steady: () => now,
    after(ms, task) {
      const timer = { at: now + ms, task }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  }
  function pass(ms: number): void {
    const end = now + ms
    for (;;) {
      const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      now = due.at
      timers = timers.filter((other) => other !== due)
      due.task()
    }
    now = end
  }
  /** Sets the clock, forward or back; no time passes. */
  function set(byMs: number): void {
    setBy += byMs
  }
  return { clock, pass, set, armed: () => timers.length }
}
