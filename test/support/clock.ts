import { type Clock, systemClock } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time on: what reads `now` and `steady` sees it, and timers of `moved` clocks fire. */
  advance(ms: number): void
  /** Sets the wall clock, forward or back; no time passes. */
  set(byMs: number): void
  /** Timers of `after` that are waiting; only of a `moved` clock. */
  armed(): number
}

interface FakeClockOptions {
  readonly start?: number
  /**
   * Whose timers `after` uses: the system's, so that a server under test works on beside a clock
   * that stands; or this clock's own, which fire when it is moved.
   */
  readonly timers?: 'system' | 'moved'
}

/** A clock that stands until it is moved. */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  const { start = Date.UTC(2026, 10, 21, 12), timers = 'system' } = options
  const system = systemClock()
  let wall = start
  let steady = 0
  let waiting: { readonly at: number; readonly task: () => void }[] = []

  function move(to: number): void {
    wall += to - steady
    steady = to
  }

  return {
    ...system,
    now: () => wall,
    iso: () => new Date(wall).toISOString(),
    steady: () => steady,
    after(ms, task) {
      if (timers === 'system') return system.after(ms, task)
      const timer = { at: steady + ms, task }
      waiting.push(timer)
      return () => {
        waiting = waiting.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      const end = steady + ms
      for (;;) {
        const due = waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        move(due.at)
        waiting = waiting.filter((other) => other !== due)
        due.task()
      }
      move(end)
    },
    set(byMs) {
      wall += byMs
    },
    armed: () => waiting.length,
  }
}

/** A clock whose timers fire when it is moved, with its hands apart. */
export function handClock() {
  const clock = fakeClock({ timers: 'moved' })
  return { clock, pass: clock.advance, set: clock.set, armed: clock.armed }
}
