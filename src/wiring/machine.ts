import { availableParallelism, totalmem } from 'node:os'
import { createParserPool } from '../channels/parser/pool.ts'
import type { TaskLimits } from '../channels/parser/watchdog.ts'
import type { Clock } from '../core/clock.ts'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import {
  BODY_COST,
  DOCUMENT_BRIEF_MS,
  DOCUMENT_MS_MAX,
  DRAWING_MS_MAX,
  PARSE_CPU_MS_MAX,
  PARSE_MEMORY_BYTES_MAX,
  PARSE_MEMORY_SHARE_MAX,
  PARSE_PROCESSES_PER_CORE,
  PARSE_STEP_CPU_MS_MAX,
  PARSE_STEP_MS_MAX,
  REQUESTS_MEMORY_SHARE,
} from '../core/limits/machine.ts'
import type { Parser, ParseTask } from '../upstream/ports/parser.ts'

/** With it one tenant, which may hold 8/9 of the budget, can send the largest body allowed. */
const LEAST = AGENT_BODY_BYTES_MAX * BODY_COST * 1.25

/** The memory budget of requests and answers on a machine with this much memory. */
export const requestBudgetBytes = (memoryBytes = memoryOfMachine()): number =>
  Math.max(LEAST, memoryBytes * REQUESTS_MEMORY_SHARE)

/** The memory of the machine, or of the container when that has a limit. */
const memoryOfMachine = () =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** About what a codec and 25 MB of sound need. */
const PROCESS_BYTES_MIN = 256 * 1024 * 1024
/** With two, a tenant that keeps one busy leaves one to the others. */
const PROCESSES_MIN = 2

/** Starts parse workers by the command `argv`. */
export function openParser(argv: readonly string[], clock: Clock) {
  const share = memoryOfMachine() * PARSE_MEMORY_SHARE_MAX
  const memoryBytes = Math.max(
    PROCESS_BYTES_MIN,
    Math.min(PARSE_MEMORY_BYTES_MAX, share / PROCESSES_MIN),
  )
  const wanted = availableParallelism() * PARSE_PROCESSES_PER_CORE
  const all = Math.max(PROCESSES_MIN, Math.min(wanted, Math.floor(share / memoryBytes)))
  // A worker that is busy would not see that the server was killed; this ends it.
  const command = { argv, env: { BUN_FEATURE_FLAG_NO_ORPHANS: '1' } }
  const forTurns = createParserPool({
    command,
    clock,
    processes: { all, perTenant: Math.ceil(all / PARSE_PROCESSES_PER_CORE) },
    limits: stepLimits(memoryBytes),
  })
  // A file may take a minute; no turn waits for it, and no file that takes seconds.
  const one = { all: 1, perTenant: 1 }
  const forDocuments = createParserPool({
    command,
    clock,
    processes: one,
    limits: wholeLimits(DOCUMENT_MS_MAX, memoryBytes),
  })
  const forBriefOnes = createParserPool({
    command,
    clock,
    processes: one,
    limits: wholeLimits(DOCUMENT_BRIEF_MS, memoryBytes),
    late: 'slow',
  })
  // The pages of a scan are many, and files do not wait for all of them.
  const forDrawings = createParserPool({
    command,
    clock,
    processes: one,
    limits: wholeLimits(DRAWING_MS_MAX, memoryBytes),
  })
  const pools = [forTurns, forDocuments, forBriefOnes, forDrawings]
  const poolOf = ({ name, isBrief = false }: Pick<ParseTask, 'name' | 'isBrief'>) => {
    if (name === 'drawing') return forDrawings
    if (name !== 'document') return forTurns
    return isBrief ? forBriefOnes : forDocuments
  }
  const parse: Parser['parse'] = (task, signal) => poolOf(task).parse(task, signal)
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()))
  }
  return { parse, close }
}

/** For recordings and pages, whose workers give output every few milliseconds. */
const stepLimits = (memoryBytes: number): TaskLimits => ({
  ms: Number.POSITIVE_INFINITY,
  cpuMs: PARSE_CPU_MS_MAX,
  stepMs: PARSE_STEP_MS_MAX,
  stepCpuMs: PARSE_STEP_CPU_MS_MAX,
  memoryBytes,
})
/** For files, which may have to be read whole before the first word comes out. */
const wholeLimits = (ms: number, memoryBytes: number): TaskLimits => ({
  ms,
  cpuMs: Number.POSITIVE_INFINITY,
  stepMs: Number.POSITIVE_INFINITY,
  stepCpuMs: Number.POSITIVE_INFINITY,
  memoryBytes,
})
