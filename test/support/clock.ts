import { type Clock, systemClock } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves `now` and `steady` forward, and fires the due timers of a `moved` clock. */
  advance(ms: number): void
  /** Sets the wall clock forward or back, without moving `steady`. */
  set(byMs: number): void
  /** Number of waiting timers of `after`; only of a `moved` clock. */
  armed(): number
}

interface FakeClockOptions {
  readonly start?: number
  /**
   * The timers that `after` uses: the system's, so that a server under test keeps working while the
   * clock stands still; or this clock's own, which fire when it is moved.
   */
  readonly timers?: 'system' | 'moved'
  /** Whether work that is done again and again comes by itself; else the test does it. */
  readonly repeats?: boolean
}

/** A clock that stands still until it is moved. */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  const { start = Date.UTC(2026, 10, 21, 12), timers = 'system', repeats = true } = options
  const system = repeats ? systemClock() : quietClock()
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

/** A clock whose timers fire when it is moved; the functions that move it are separate. */
export function handClock() {
  const clock = fakeClock({ timers: 'moved' })
  return { clock, pass: clock.advance, set: clock.set, armed: clock.armed }
}

/**
 * The system's clock, under which nothing is done every second: such work would come before the
 * test has written what it meets.
 */
export const quietClock = (): Clock => ({ ...systemClock(), every: () => () => {} })

/** As long as doors wait for a model until they begin to answer. */
const SHORT_MS = 2_000

/**
 * The system's clock for servers with short timeouts. Short waits are counted in rounds of the
 * event loop, so that timeouts do not expire while a busy machine stops this process.
 */
export function patientClock(): Clock {
  const system = systemClock()
  return {
    ...system,
    after(ms, task) {
      if (ms > SHORT_MS) return system.after(ms, task)
      let left = ms
      let stop = () => {}
      const wait = () => {
        stop = left-- > 0 ? system.after(1, wait) : system.after(0, task)
      }
      wait()
      return () => stop()
    },
  }
}
