import { type Clock, systemClock } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time on; nothing waits for it but what reads `now`. */
  advance(ms: number): void
}

/** The system's timers with a `now` that tests move. */
export function fakeClock(start = Date.UTC(2026, 10, 21, 12)): FakeClock {
  let now = start
  return {
    ...systemClock(),
    now: () => now,
    iso: () => new Date(now).toISOString(),
    advance(ms) {
      now += ms
    },
  }
}
