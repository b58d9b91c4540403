import type { TurnRequest } from '../../api/stream.ts'
import type { Beside, Queue, Waiting } from './queue.ts'
import type { Turn } from './turn.ts'
import { isUnreached } from './turn-end.ts'
import type { createTurnStore } from './turn-store.ts'

interface AskingOptions {
  readonly queue: Queue
  readonly turns: ReturnType<typeof createTurnStore>
  readonly isRunning: (session: string) => boolean
  /** Whether the server is known to be out of reach. */
  readonly isAway: () => boolean
  readonly send: (request: TurnRequest, beside: Beside) => Promise<Turn | null>
  readonly stop: (session: string) => void
}

/** A question that so often did not arrive, although the server was there, goes by hand alone. */
const TRIES_MAX = 3

/**
 * Sends questions one after another: each when the answer before it has ended well, and, where the
 * server could not be reached, when it is back.
 */
export function createAsking(options: AskingOptions) {
  const { queue, turns, isRunning, isAway, send, stop } = options
  /** Talks in which a question is on its way. */
  const going = new Set<string>()
  /** Talks whose next question was to go at once, whatever became of the answer. */
  const urgent = new Set<string>()

  const isThere = ({ id, request }: Waiting) =>
    queue.lineOf(request.session_id).waiting.some((one) => one.id === id)

  /** One that left before may have arrived: by its name the server takes it once. */
  async function deliver(one: Waiting): Promise<void> {
    const { request, tries } = one
    const { session_id: session } = request
    queue.drop(session, one.id)
    const turn = await send(request, one)
    if (!turn || !isUnreached(turn)) return
    turns.drop(session, turn.id)
    turns.keepUnsaved()
    // The server has told of it meanwhile, and it is read.
    if (turns.turnsOf(session).some(({ turnId }) => turnId === request.turn_id)) return
    queue.putFirst({ ...one, tries: tries + 1 })
    if (tries + 1 >= TRIES_MAX) queue.hold(session, true)
  }

  async function go(one: Waiting): Promise<void> {
    const { session_id: session } = one.request
    going.add(session)
    await deliver(one)
    going.delete(session)
    if (!isThere(one)) next(session)
  }

  function next(session: string): void {
    const { waiting, isHeld } = queue.lineOf(session)
    const [first] = waiting
    if (!first || isHeld || isAway() || going.has(session) || isRunning(session)) return
    void go(first)
  }

  return {
    /** A question goes at once where nothing is before it; else it waits. */
    ask(request: TurnRequest, beside: Beside): void {
      const { session_id: session } = request
      const { isHeld } = queue.lineOf(session)
      const one = queue.add(request, beside)
      const isFree = !isAway() && !going.has(session) && !isRunning(session)
      if (isHeld && isFree) void go(one)
      else next(session)
    },
    /** To be called when an answer has ended in any way. */
    ended(session: string, turn: Turn | null): void {
      if (turn && isUnreached(turn)) return
      const isGood = turn === null || (turn.state === 'done' && !turn.isStopped)
      const isUrgent = urgent.delete(session)
      if (!isGood && !isUrgent && queue.lineOf(session).waiting.length > 0) {
        queue.hold(session, true)
      }
      next(session)
    },
    /** Stops the answer that is being written, and sends this question. */
    sendNow(one: Waiting): void {
      const { session_id: session } = one.request
      queue.putFirst({ ...one, tries: 0 })
      queue.hold(session, false)
      if (isRunning(session)) {
        urgent.add(session)
        stop(session)
      } else next(session)
    },
    /** To be called when the server can be reached again. */
    resume(): void {
      for (const session of queue.sessions()) next(session)
    },
  }
}
