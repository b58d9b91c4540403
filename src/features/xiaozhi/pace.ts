import type { Clock } from '../../core/clock.ts'
import { FRAME_MS } from './messages.ts'

/** A packet is sent when less than this is left to play, so at most 300 ms lie at the board. */
const AHEAD_MS = 240

/**
 * Sends a speech a little faster than it is played: a board that loses the network for a moment
 * plays on, and its queue of 2.4 s never runs over.
 */
export function createPace(clock: Clock) {
  /** When the board has played what it was sent, on the steady clock. */
  let playedAt = 0
  const wait = async (ms: number, signal: AbortSignal) => {
    if (ms > 0) await clock.sleep(ms, signal)
  }
  return {
    /** Resolves when the next packet is due. */
    due: (signal: AbortSignal) => wait(playedAt - clock.steady() - AHEAD_MS, signal),
    /** A packet was sent. */
    sent(): void {
      playedAt = Math.max(playedAt, clock.steady()) + FRAME_MS
    },
    /** Resolves when the board has played everything. */
    played: (signal: AbortSignal) => wait(playedAt - clock.steady(), signal),
    /** The board was told to stop. */
    stop(): void {
      playedAt = 0
    },
  }
}

export type Pace = ReturnType<typeof createPace>
