import { appError } from '../core/errors.ts'
import { STREAMS_PER_TENANT_SURE } from '../core/limits/machine.ts'

/** The last tenth of the slots is for those who do not hold many. */
const CROWDED = 0.9

/**
 * How many streams are open, in all and for each owner, a tenant with all its keys. One owner may
 * use most of a server that nobody else uses, but cannot take the last slots from the others.
 */
export function createStreamSlots(most: number) {
  const held = new Map<string, number>()
  let open = 0
  return {
    /** Throws `too_many_streams` (contract, section 3) when there is no slot for this owner. */
    check(owner: string): void {
      const greedy = (held.get(owner) ?? 0) >= STREAMS_PER_TENANT_SURE
      if (open < (greedy ? most * CROWDED : most)) return
      throw appError('too_many_streams', {}, { headers: { 'retry-after': '1' } })
    },
    /** Takes a slot, to be given back once. */
    take(owner: string): void {
      open += 1
      held.set(owner, (held.get(owner) ?? 0) + 1)
    },
    giveBack(owner: string): void {
      open -= 1
      const left = (held.get(owner) ?? 1) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
    },
  }
}
