import { ApiError, connectionError } from '../../api/client.ts'
import type { EventBatch, followTurn } from '../../api/stream.ts'
import { gatherFrames } from './frames.ts'
import { afterEvents, type Turn } from './turn.ts'
import { broken, cut } from './turn-end.ts'
import type { createTurnStore } from './turn-store.ts'

/** An answer that this tab reads. */
export interface Reading {
  readonly abort: AbortController
  readonly id: string
  /**
   * Whether it was asked `here` just now, before a `reload`, so that nobody knows whether it has
   * arrived, or the `server` has told of it.
   */
  readonly from: 'here' | 'reload' | 'server'
}

interface ReaderOptions {
  readonly turns: ReturnType<typeof createTurnStore>
  readonly follow: typeof followTurn
  /** Resolves when a broken stream may be taken up again. */
  readonly pause: () => Promise<void>
}

const FAULTY_FROM = 500
const LIMITED = 429

/** Whether the server may be reached again, and the answer goes on meanwhile. */
export const isBreak = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 0 || error.status === LIMITED || error.status > FAULTY_FROM)

/** Reads the events of a turn until it has ended; takes the stream up again where it broke. */
export function createTurnReader({ turns, follow, pause }: ReaderOptions) {
  return async function read(
    session: string,
    { id, abort, from }: Reading,
    first: AsyncGenerator<EventBatch>,
  ): Promise<(turn: Turn) => Turn> {
    const frames = gatherFrames((batches) =>
      turns.change(session, id, (turn) =>
        batches.reduce((before, { events, at, last }) => {
          const after = last ?? before.after
          return { ...afterEvents(before, events, at), after }
        }, turn),
      ),
    )
    /** Whether the server is thought to have it. */
    const isThere = () => from !== 'here' || (turns.turnOf(session, id)?.after ?? 0) > 0
    let source = first
    for (;;) {
      try {
        for await (const { events, last } of source) frames.add(events, last)
        frames.flush()
        if (turns.turnOf(session, id)?.state !== 'running') return cut
      } catch (error) {
        frames.flush()
        if (abort.signal.aborted) return (turn) => ({ ...turn, state: 'stopped' })
        if (!isThere() || !isBreak(error)) return (turn) => broken(turn, error)
      }
      const turn = turns.turnOf(session, id)
      // An answer of which nothing came may be another server's, such as a gateway's.
      if (!isThere() && turn?.reply === '') return (one) => broken(one, connectionError())
      if (!turn || turn.turnId === null) return cut
      await pause()
      source = follow(turn.turnId, turn.after, abort.signal)
    }
  }
}
