import type { Logger } from './log.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Time as an argument, so that windows, expiries and back-off are tested without waiting. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** ISO 8601 UTC with milliseconds; sorts as text. */
  iso(): string
  /** Milliseconds since some start; setting the machine's clock does not change it. */
  steady(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `task` every `ms` until the returned function is called; keeps no process alive. */
  every(ms: number, task: () => void): () => void
  /** Calls `task` once after `ms` unless the returned function is called first. */
  after(ms: number, task: () => void): () => void
}

/** The time and the timers of this machine. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    iso: () => new Date().toISOString(),
    steady: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = () => {
          clearTimeout(timer)
          reject(signal?.reason)
        }
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }, ms)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    every: (ms, task) => {
      const timer = setInterval(task, ms)
      timer.unref?.()
      return () => clearInterval(timer)
    },
    after: (ms, task) => {
      const timer = setTimeout(task, ms)
      return () => clearTimeout(timer)
    },
  }
}

/** Smaller corrections of the clock are no jumps. */
const JUMP_MS = 60_000

type Time = Pick<Clock, 'now' | 'steady'>

/** Returns by how many milliseconds the clock was set since the last call, or 0. */
function createJumps(clock: Time): () => number {
  let offset = clock.now() - clock.steady()
  return () => {
    const jumped = clock.now() - clock.steady() - offset
    if (Math.abs(jumped) < JUMP_MS) return 0
    offset += jumped
    return jumped
  }
}

/**
 * Whether the wall clock has not jumped for `settledMs`. Jobs that delete by age ask: a wrong clock
 * that is corrected a moment later must not have deleted rows.
 */
export function createSettledClock(clock: Time, settledMs: number): () => boolean {
  const jumpedMs = createJumps(clock)
  let evenSince = clock.steady()
  return () => {
    if (jumpedMs() !== 0) evenSince = clock.steady()
    return clock.steady() - evenSince >= settledMs
  }
}

const LOOK_MS = 30_000

/**
 * Logs that the machine's clock was set. This explains log rows out of order, and logins and codes
 * that end too early or too late.
 */
export function watchClock(clock: Clock, log: Logger): () => void {
  const jumpedMs = createJumps(clock)
  return clock.every(LOOK_MS, () => {
    const seconds = Math.round(jumpedMs() / 1000)
    if (seconds !== 0) log.warn('the clock of this machine was set', { seconds })
  })
}
