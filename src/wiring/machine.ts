import { availableParallelism, totalmem } from 'node:os'
import { createParserPool } from '../channels/parser/pool.ts'
import type { Clock } from '../core/clock.ts'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import {
  BODY_COST,
  PARSE_MEMORY_BYTES_MAX,
  PARSE_MEMORY_SHARE_MAX,
  PARSE_PROCESSES_PER_CORE,
  REQUESTS_MEMORY_SHARE,
} from '../core/limits/machine.ts'
import { PARSE_COMMAND } from './program.ts'

/** One tenant, who may hold 8/9 of the budget, can always send the largest body there is. */
const LEAST = AGENT_BODY_BYTES_MAX * BODY_COST * 1.25

/** The memory budget of requests and answers on a machine with this much memory. */
export const requestBudgetBytes = (memoryBytes = memoryOfMachine()): number =>
  Math.max(LEAST, memoryBytes * REQUESTS_MEMORY_SHARE)

/** The memory of the machine, or of the container when that has a limit. */
const memoryOfMachine = () =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** A codec and 25 MB of sound need about this much. */
const PROCESS_BYTES_MIN = 256 * 1024 * 1024
/** With two, a tenant that keeps one busy leaves one to the others. */
const PROCESSES_MIN = 2

/** Starts parse workers with `self`, the way in which this program starts itself. */
export function openParser(self: readonly string[], clock: Clock) {
  const share = memoryOfMachine() * PARSE_MEMORY_SHARE_MAX
  const memoryBytes = Math.max(
    PROCESS_BYTES_MIN,
    Math.min(PARSE_MEMORY_BYTES_MAX, share / PROCESSES_MIN),
  )
  const wanted = availableParallelism() * PARSE_PROCESSES_PER_CORE
  const all = Math.max(PROCESSES_MIN, Math.min(wanted, Math.floor(share / memoryBytes)))
  return createParserPool({
    command: { argv: [...self, PARSE_COMMAND] },
    clock,
    processes: { all, perTenant: Math.ceil(all / PARSE_PROCESSES_PER_CORE) },
    memoryBytes,
  })
}
