import type { Clock } from './clock.ts'

/** Smaller corrections of the clock are no jumps. */
const JUMP_MS = 60_000

/** Returns by how many milliseconds the clock was set since the last call, or 0. */
export function createJumps(clock: Clock): () => number {
  let offset = clock.now() - clock.steady()
  return () => {
    const jumped = clock.now() - clock.steady() - offset
    if (Math.abs(jumped) < JUMP_MS) return 0
    offset += jumped
    return jumped
  }
}
