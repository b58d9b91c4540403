import type { EventBatch, followTurn } from '../../api/stream.ts'
import type { Pending, talks } from '../../api/talks.ts'
import { askedOf } from './asked-of.ts'
import type { Turn } from './turn.ts'
import { isUnreached } from './turn-end.ts'
import { createTurnReader, type Reading } from './turn-reader.ts'
import { createTurnStopper } from './turn-stopper.ts'
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

/** Whether the server has not told its end, as where it did not let the person read on. */
const goesOn = (turn: Turn): boolean => {
  const { state, fault, after } = turn
  if (state === 'running') return true
  return (
    state === 'failed' &&
    fault !== null &&
    fault.status !== null &&
    (after > 0 || isUnreached(turn))
  )
}

/** Whether the server has told that it has no such turn to read. */
const isGone = ({ turnId, after, fault }: Turn): boolean =>
  turnId !== null && fault?.status === MISSING && (after > 0 || fault.error?.params.what === 'turn')

/** The answers that this tab reads, at most one a session. */
export function createTurnRunner(options: RunnerOptions) {
  const { turns, follow, pause, server, tellStored, onEnd } = options
  const running = new Map<string, Reading>()
  /** Turns that this tab has read, by the server's names, and how they were asked to be. */
  const seen = new Map<string, Wish | undefined>()
  const { turnOf } = turns
  const read = createTurnReader({ turns, follow, pause })
  const stop = createTurnStopper({ turns, running, pause, server })

  /** Reads a turn to its end. Resolves with the turn; with null when the server has dropped it. */
  async function run(
    session: string,
    reading: Reading,
    source: AsyncGenerator<EventBatch>,
  ): Promise<Turn | null> {
    const { id, from } = reading
    running.set(session, reading)
    turns.change(session, id, (turn) => turn)
    const how = await read(session, reading, source)
    running.delete(session)
    turns.change(session, id, how)
    const turn = turnOf(session, id)
    if (turn?.turnId && turn.after > 0) seen.set(turn.turnId, turn.wish)
    turns.keepUnsaved()
    if (turn?.state === 'done') {
      // Before that the list has the replaced turn, and the new number may be unknown.
      void tellStored(session).then(() => turn.replaces && turns.drop(session, turn.replaces.id))
    } else if (turn && isGone(turn)) {
      // It ended long ago, and the server has stored it or told why not; or it broke off there.
      await tellStored(session)
      const open = await server.pending(session).catch(() => [])
      const isOpen = open.some(({ turn_id }) => turn_id === turn.turnId)
      // Or it never arrived.
      const isKept = from === 'reload' && turn.after === 0 && !isOpen
      if (isKept) turns.change(session, id, (one) => ({ ...one, fault: null }))
      else turns.drop(session, id)
      turns.keepUnsaved()
      onEnd(session, isOpen || isKept ? turn : null)
      return null
    }
    onEnd(session, turn)
    return turn
  }

  /** Reads a turn that the server tells of; false where this tab has, or reads another. */
  function attach(session: string, { turn_id, text, started_at, images, named }: Pending): boolean {
    if (running.has(session) || seen.has(turn_id)) return false
    seen.set(turn_id, undefined)
    for (const one of turns.turnsOf(session)) {
      if (one.turnId === turn_id) turns.drop(session, one.id)
    }
    const abort = new AbortController()
    const more = { turnId: turn_id, at: Date.parse(started_at) }
    const id = turns.add(session, askedOf(text, images, named), more)
    void run(session, { abort, id, from: 'server' }, follow(turn_id, 0, abort.signal))
    return true
  }

  /** Goes on with answers that this tab has read in part, as after a reload or a new sign-in. */
  function resume(): void {
    for (const session of turns.sessions()) {
      for (const turn of turns.turnsOf(session)) {
        const { id, turnId, after } = turn
        if (!goesOn(turn) || turnId === null || running.has(session)) continue
        seen.set(turnId, turn.wish)
        turns.change(session, id, (one) => ({ ...one, state: 'running', fault: null }))
        const abort = new AbortController()
        const from = after > 0 ? 'server' : 'reload'
        void run(session, { abort, id, from }, follow(turnId, after, abort.signal))
      }
    }
  }

  return { running, run, attach, stop, resume, wishOf: (turn: string) => seen.get(turn) }
}
