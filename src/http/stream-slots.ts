import { appError } from '../core/errors.ts'

/** A client that was told 503 comes back after a second (`Retry-After`), perhaps a few times. */
const CLAIM_MS = 10_000

/**
 * Open streams, in all and by owner (a tenant with all its keys). The rule keeps every slot in use:
 * an owner that is alone may take them all. An owner below its equal share that finds no slot
 * leaves a claim, and while a claim stands, owners at or above their share get no further slot. So
 * the next slots that become free go to whoever has few.
 */
export function createStreamSlots(most: number, steady: () => number) {
  const held = new Map<string, number>()
  /** When the claim of an owner ends. */
  const claims = new Map<string, number>()
  let open = 0

  function dropEndedClaims(): void {
    for (const [owner, end] of claims) if (end <= steady()) claims.delete(owner)
  }

  /** An equal part of the slots for each owner that has some or asks for some. */
  function shareOf(owner: string): number {
    const others = [...claims.keys()].filter((one) => one !== owner && !held.has(one)).length
    return most / (held.size + others + (held.has(owner) ? 0 : 1))
  }

  return {
    /** Throws `too_many_streams` (contract, section 3) when there is no slot for this owner. */
    check(owner: string): void {
      dropEndedClaims()
      const isBelowShare = (held.get(owner) ?? 0) < shareOf(owner)
      const othersClaim = claims.size > (claims.has(owner) ? 1 : 0)
      if (open < most && (isBelowShare || !othersClaim)) return
      if (isBelowShare) claims.set(owner, steady() + CLAIM_MS)
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
