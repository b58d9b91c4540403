import { totalmem } from 'node:os'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { BODY_COST, REQUESTS_MEMORY_SHARE } from '../core/limits/machine.ts'

/** One tenant, who may hold 8/9 of the budget, can always send the largest body there is. */
const LEAST = AGENT_BODY_BYTES_MAX * BODY_COST * 1.25

/** The memory budget of requests and answers on a machine with this much memory. */
export const requestBudgetBytes = (memoryBytes = memoryOfMachine()): number =>
  Math.max(LEAST, memoryBytes * REQUESTS_MEMORY_SHARE)

/** The memory of the machine, or of the container when that has a limit. */
export const memoryOfMachine = () =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
