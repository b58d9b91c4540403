import { totalmem } from 'node:os'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { BODIES_BYTES_MAX, BODIES_MEMORY_SHARE_MAX } from '../core/limits/machine.ts'

/** So that one tenant, who gets half, can send the largest body there is. */
const LEAST = 2 * AGENT_BODY_BYTES_MAX

/** Bytes of large bodies that may be in a memory of this size at a time. */
export const bodiesThatFit = (memoryBytes = memoryOfMachine()): number =>
  Math.max(LEAST, Math.min(BODIES_BYTES_MAX, memoryBytes * BODIES_MEMORY_SHARE_MAX))

/** Of a container its own limit. */
const memoryOfMachine = () =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
