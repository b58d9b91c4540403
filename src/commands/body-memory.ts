import { totalmem } from 'node:os'
import { BODIES_BYTES_MAX, BODIES_MEMORY_SHARE_MAX } from '../core/limits.ts'

/** Bytes of large bodies that may be in the memory of this machine, or container, at a time. */
export function bodiesThatFit(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(BODIES_BYTES_MAX, memory * BODIES_MEMORY_SHARE_MAX)
}
