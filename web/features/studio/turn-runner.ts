import type { EventBatch, followTurn } from '../../api/stream.ts'
import type { Pending, talks } from '../../api/talks.ts'
import { askedOf } from './asked-of.ts'
import { isTemporary } from './fresh.ts'
import type { Turn } from './turn.ts'
import { createTurnReader, isBreak, type Reading } from './turn-reader.ts'
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
const goesOn = ({ state, fault }: Turn): boolean =>
  state === 'running' || (state === 'failed' && fault !== null && fault.status !== null)

/** The answers that this tab reads, at most one a session. */
export function createTurnRunner(options: RunnerOptions) {
  const { turns, follow, pause, server, tellStored, onEnd } = options
  const running = new Map<string, Reading>()
  /** Turns that this tab has read, by the server's names, and how they were asked to be. */
  const seen = new Map<string, Wish | undefined>()
  /** Turns that this tab is stopping. */
  const stopping = new Set<string>()
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
      // It ended long ago, and the server has stored it or told why not; or it broke off there.
      await tellStored(session)
      turns.drop(session, id)
      turns.keepUnsaved()
      const open = await server.pending(session).catch(() => [])
      onEnd(session, open.some(({ turn_id }) => turn_id === turn.turnId) ? turn : null)
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

  /** The server's name of a turn; null when it has not come soon. */
  async function nameOf(session: string, id: string): Promise<string | null> {
    const named = Promise.withResolvers<void>()
    const name = () => turnOf(session, id)?.turnId ?? null
    const end = turns.subscribe(() => name() !== null && named.resolve())
    if (name() === null && !isTemporary(session)) await Promise.race([pause(), named.promise])
    end()
    return name()
  }

  /**
   * Stops the model. The server stores what was written, and then ends the stream; one that cannot
   * be reached is told once it can. Throws `ApiError` where it refuses.
   */
  async function stop(session: string): Promise<void> {
    const reading = running.get(session)
    if (!reading || stopping.has(reading.id)) return
    stopping.add(reading.id)
    try {
      const turnId = await nameOf(session, reading.id)
      if (turnId !== null) return await stopNamed(turnId, () => running.get(session) === reading)
    } finally {
      stopping.delete(reading.id)
    }
    reading.abort.abort()
    // The server may have taken the question, and have named its turn to nobody.
    if (turnOf(session, reading.id)?.reply !== '') return
    const open = await server.pending(session).catch(() => [])
    for (const { turn_id } of open) void server.stop(turn_id).catch(() => {})
  }

  async function stopNamed(turnId: string, isOpen: () => boolean): Promise<void> {
    while (isOpen()) {
      try {
        await server.stop(turnId)
        return
      } catch (error) {
        if (!isBreak(error)) throw error
      }
      await pause()
    }
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
        void run(session, { abort, id }, follow(turnId, after, abort.signal))
      }
    }
  }

  return { running, run, attach, stop, resume, wishOf: (turn: string) => seen.get(turn) }
}
