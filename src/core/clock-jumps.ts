import type { Clock } from './clock.ts'

/** What a clock is corrected by in passing is no jump. */
const JUMP_MS = 60_000

/** Asked now and then: by how many milliseconds the clock was set since it was last asked, or 0. */
export function createJumps(clock: Clock): () => number {
  let offset = clock.now() - clock.steady()
  return () => {
    const jumped = clock.now() - clock.steady() - offset
    if (Math.abs(jumped) < JUMP_MS) return 0
    offset += jumped
    return jumped
  }
}
