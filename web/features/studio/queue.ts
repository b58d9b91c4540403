import type { TurnRequest } from '../../api/stream.ts'
import { keep } from '../../lib/kept.ts'
import { isTemporary } from './fresh.ts'
import type { Wish } from './wish.ts'

/** What belongs to a question and is not sent. */
export interface Beside {
  /** Names of its files. */
  readonly names: readonly string[]
  readonly wish?: Wish | undefined
}

/** A question that waits for the end of the answer before it, or for the server. */
export interface Waiting extends Beside {
  /** The name of its turn. */
  readonly id: string
  readonly request: TurnRequest
  /** How often it left and did not reach the server. */
  readonly tries: number
}

/** The questions of a talk that wait, the next one first. */
export interface Line {
  readonly waiting: readonly Waiting[]
  /** Whether none goes by itself, because the answer before it was stopped or failed. */
  readonly isHeld: boolean
}

const KEPT = 'mb.queue'
const NOBODY: Line = { waiting: [], isHeld: false }

/**
 * Questions that wait, by session. After a reload they are held: the browser may be in another
 * workspace by then, and another person may have signed in.
 */
export function createQueue(storage: Storage) {
  let lines: ReadonlyMap<string, Line> = readLines(storage)
  const listeners = new Set<() => void>()
  const lineOf = (session: string) => lines.get(session) ?? NOBODY

  function set(session: string, line: Line): void {
    const changed = new Map(lines)
    if (line.waiting.length > 0) changed.set(session, line)
    else changed.delete(session)
    lines = changed
    const kept = [...lines].filter(([name]) => !isTemporary(name))
    keep(KEPT, JSON.stringify(kept.map(([name, { waiting }]) => [name, waiting])), storage)
    for (const listener of listeners) listener()
  }

  const without = (session: string, id: string) =>
    lineOf(session).waiting.filter((one) => one.id !== id)

  return {
    lineOf,
    sessions: () => [...lines.keys()],
    add(request: TurnRequest, beside: Beside): Waiting {
      const { session_id: session, turn_id: id } = request
      const one = { ...beside, id, request, tries: 0 }
      const { waiting, isHeld } = lineOf(session)
      set(session, { waiting: [...waiting, one], isHeld })
      return one
    },
    /** Puts it before the others, which also brings one back that had left. */
    putFirst(one: Waiting): void {
      const { session_id: session } = one.request
      const { isHeld } = lineOf(session)
      set(session, { waiting: [one, ...without(session, one.id)], isHeld })
    },
    drop: (session: string, id: string) =>
      set(session, { waiting: without(session, id), isHeld: lineOf(session).isHeld }),
    hold: (session: string, isHeld: boolean) =>
      set(session, { waiting: lineOf(session).waiting, isHeld }),
    forget: (session: string) => set(session, NOBODY),
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export type Queue = ReturnType<typeof createQueue>

/** What cannot be read is dropped. */
function readLines(storage: Storage): ReadonlyMap<string, Line> {
  try {
    const kept = JSON.parse(storage.getItem(KEPT) ?? '[]') as [string, Waiting[]][]
    return new Map(
      kept.map(([session, waiting]) => [
        session,
        { waiting: waiting.filter(({ request }) => request.session_id === session), isHeld: true },
      ]),
    )
  } catch {
    return new Map()
  }
}
