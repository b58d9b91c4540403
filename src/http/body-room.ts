import { Elysia } from 'elysia'
import { appError } from '../core/errors.ts'

interface Held {
  readonly owner: string
  bytes: number
  /** Whatever still needs the body: the request itself, and a stream that answers it. */
  uses: number
}

/** One owner leaves the other half to the others. */
const SHARE = 0.5

/**
 * The memory that large bodies take together, in bytes as sent: what is made of them takes several
 * times as much. They are counted piece by piece, so that a body that was only announced takes
 * nothing, until their request is answered to its end.
 */
export function createBodyRoom(bytesMax: number) {
  const bodies = new WeakMap<Request, Held>()
  const owners = new Map<string, number>()
  let total = 0

  function add(owner: string, bytes: number): void {
    total += bytes
    const own = (owners.get(owner) ?? 0) + bytes
    if (own > 0) owners.set(owner, own)
    else owners.delete(owner)
  }

  function drop(held: Held): void {
    held.uses -= 1
    if (held.uses === 0) add(held.owner, -held.bytes)
  }

  return {
    /** Counts a piece that has come. Throws `memory_full` when there is no room for it. */
    take(request: Request, owner: string, bytes: number): void {
      const own = owners.get(owner) ?? 0
      if (total + bytes > bytesMax || own + bytes > bytesMax * SHARE) {
        throw appError('memory_full', {}, { headers: { 'retry-after': '1' } })
      }
      const held = bodies.get(request) ?? { owner, bytes: 0, uses: 1 }
      bodies.set(request, held)
      held.bytes += bytes
      add(owner, bytes)
    },

    /** The body is needed until the returned function is called, also once the answer has begun. */
    keep(request: Request): () => void {
      const held = bodies.get(request)
      if (!held) return () => {}
      if (held.uses === 0) add(held.owner, held.bytes)
      held.uses += 1
      return () => drop(held)
    },

    /** The request was answered. */
    answered(request: Request): void {
      const held = bodies.get(request)
      if (held) drop(held)
    },
  }
}

export type BodyRoom = ReturnType<typeof createBodyRoom>

/** Gives back what the body of an answered request took. */
export const bodyRoom = (room: Pick<BodyRoom, 'answered'>) =>
  new Elysia({ name: 'body-room' }).onAfterResponse({ as: 'global' }, ({ request }) =>
    room.answered(request),
  )
