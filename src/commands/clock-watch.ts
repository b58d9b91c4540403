import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'

const LOOK_MS = 30_000
/** What a clock is corrected by in passing is no jump. */
const JUMP_MS = 60_000

/**
 * Says in the log when somebody has set the machine's clock: it explains log rows out of order,
 * logins that have ended and codes that have not. `steady` is a time that only goes forward.
 */
export function watchClock(clock: Clock, steady: () => number, log: Logger): () => void {
  let offset = clock.now() - steady()
  return clock.every(LOOK_MS, () => {
    const jumped = clock.now() - steady() - offset
    if (Math.abs(jumped) < JUMP_MS) return
    offset += jumped
    const seconds = Math.round(jumped / 1000)
    log.warn('the clock of this machine was set', { seconds })
  })
}
