import { appError } from '../core/errors.ts'
import { BODY_COST } from '../core/limits/machine.ts'
import { BudgetExceeded, type MemoryBudget, type MemoryShare } from '../core/memory-budget.ts'

/** 503 where the budget is exceeded; any other error is returned as it is. */
export const memoryFull = (error: unknown): unknown =>
  error instanceof BudgetExceeded
    ? appError('memory_full', {}, { headers: { 'retry-after': '1' } })
    : error

interface Held {
  readonly share: MemoryShare
  /** What still needs the body: the request itself, and a stream that answers it. */
  uses: number
}

/**
 * Counts the large bodies of requests in the memory budget, piece by piece as they arrive, until
 * their request is answered completely. A body that is only announced takes nothing.
 */
export function createRequestMemory(budget: MemoryBudget) {
  const bodies = new WeakMap<Request, Held>()

  function drop(held: Held): void {
    held.uses -= 1
    if (held.uses === 0) held.share.close()
  }

  return {
    /** Counts a piece that has arrived. Throws `memory_full` when the budget is spent. */
    add(request: Request, owner: string, bytes: number): void {
      const held = bodies.get(request) ?? { share: budget.open(owner), uses: 1 }
      bodies.set(request, held)
      try {
        held.share.add(bytes * BODY_COST)
      } catch (error) {
        throw memoryFull(error)
      }
    },

    /** Keeps the body counted until the returned function is called, beyond `release`. */
    keep(request: Request): () => void {
      const held = bodies.get(request)
      if (!held) return () => {}
      held.uses += 1
      return () => drop(held)
    },

    /** Called when the request is answered, or its stream has begun. */
    release(request: Request): void {
      const held = bodies.get(request)
      if (held) drop(held)
    },
  }
}

export type RequestMemory = ReturnType<typeof createRequestMemory>
