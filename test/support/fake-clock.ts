import { type Clock, systemClock } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time on; nothing waits for it but what reads `now` or `steady`. */
  advance(ms: number): void
  /** Sets the clock, forward or back; no time passes. */
  set(byMs: number): void
}

/** The system's timers with a `now` that tests move. */
export function fakeClock(start = Date.UTC(2026, 10, 21, 12)): FakeClock {
  let now = start
  let steady = 0
  return {
    ...systemClock(),
    now: () => now,
    iso: () => new Date(now).toISOString(),
    steady: () => steady,
    advance(ms) {
      now += ms
      steady += ms
    },
    set(byMs) {
      now += byMs
    },
  }
}
