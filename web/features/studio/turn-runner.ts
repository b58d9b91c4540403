import type { EventBatch, followTurn } from '../../api/stream.ts'
import type { Pending, talks } from '../../api/talks.ts'
import { askedOf } from './asked-of.ts'
import type { Turn } from './turn.ts'
import { createTurnReader, type Reading } from './turn-reader.ts'
import type { createTurnStore } from './turn-store.ts'
import type { Wish } from './wish.ts'

interface RunnerOptions {
  readonly turns: ReturnType<typeof createTurnStore>
  readonly follow: typeof followTurn
  readonly pause: () => Promise<void>
  readonly server: Pick<typeof talks, 'stop' | 'pending'>
  readonly tellStored: (session: string) => Promise<void>
  /** Called when a turn has ended; null when the server has dropped it. */
  readonly onEnd: (session: string, turn: Turn | null) => void
}

const MISSING = 404

/** The answers that this tab reads, at most one a session. */
export function createTurnRunner(options: RunnerOptions) {
  const { turns, follow, pause, server, tellStored, onEnd } = options
  const running = new Map<string, Reading>()
  /** Turns that this tab has read, by the server's names, and how they were asked to be. */
  const seen = new Map<string, Wish | undefined>()
  const { turnOf } = turns
  const read = createTurnReader({ turns, follow, pause })

  /** Reads a turn to its end. Resolves with the turn; with null when the server has dropped it. */
  async function run(
    session: string,
    reading: Reading,
    source: AsyncGenerator<EventBatch>,
  ): Promise<Turn | null> {
    const { id } = reading
    running.set(session, reading)
    turns.change(session, id, (turn) => turn)
    const how = await read(session, reading, source)
    running.delete(session)
    turns.change(session, id, how)
    const turn = turnOf(session, id)
    if (turn?.turnId) seen.set(turn.turnId, turn.wish)
    turns.keepUnsaved()
    if (turn?.state === 'done') {
      // Before that the list has the replaced turn, and the new number may be unknown.
      void tellStored(session).then(() => turn.replaces && turns.drop(session, turn.replaces.id))
    } else if (turn?.turnId && turn.fault?.status === MISSING) {
      // It ended long ago: the server has stored it, or has told why not.
      await tellStored(session)
      turns.drop(session, id)
      turns.keepUnsaved()
      onEnd(session, null)
      return null
    }
    onEnd(session, turn)
    return turn
  }

  /** Reads a turn that another tab or device has asked. */
  function attach(session: string, { turn_id, text, started_at, images, named }: Pending): void {
    if (running.has(session) || seen.has(turn_id)) return
    seen.set(turn_id, undefined)
    const abort = new AbortController()
    const more = { turnId: turn_id, at: Date.parse(started_at) }
    const id = turns.add(session, askedOf(text, images, named), more)
    void run(session, { abort, id }, follow(turn_id, 0, abort.signal))
  }

  /** Stops the model. The server stores what was written, and then ends the stream. */
  function stop(session: string): void {
    const reading = running.get(session)
    if (!reading) return
    const turnId = turnOf(session, reading.id)?.turnId ?? null
    if (turnId !== null) {
      void server.stop(turnId).catch(() => reading.abort.abort())
      return
    }
    reading.abort.abort()
    // The server may have taken the question, and have named its turn to nobody.
    if (turnOf(session, reading.id)?.reply !== '') return
    void server
      .pending(session)
      .then((open) => open.map(({ turn_id }) => server.stop(turn_id)))
      .catch(() => {})
  }

  /** After a reload: the answers that the server goes on with. */
  function resume(): void {
    for (const session of turns.sessions()) {
      for (const { id, state, turnId, after } of turns.turnsOf(session)) {
        if (state !== 'running' || turnId === null || running.has(session)) continue
        seen.set(turnId, undefined)
        const abort = new AbortController()
        void run(session, { abort, id }, follow(turnId, after, abort.signal))
      }
    }
  }

  return { running, run, attach, stop, resume, wishOf: (turn: string) => seen.get(turn) }
}
