import { type Clock, createJumps } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'

const LOOK_MS = 30_000

/**
 * Says in the log when somebody has set the machine's clock: it explains log rows out of order,
 * logins that have ended and codes that have not.
 */
export function watchClock(clock: Clock, log: Logger): () => void {
  const jumpedMs = createJumps(clock)
  return clock.every(LOOK_MS, () => {
    const seconds = Math.round(jumpedMs() / 1000)
    if (seconds !== 0) log.warn('the clock of this machine was set', { seconds })
  })
}
