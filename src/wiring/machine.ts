import { availableParallelism, totalmem } from 'node:os'
import { createParserPool } from '../channels/parser/pool.ts'
import type { Parser } from '../channels/ports/parser.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import {
  BODY_COST,
  DOCUMENT_MS_MAX,
  DOCUMENT_PROCESSES,
  PARSE_CPU_MS_MAX,
  PARSE_MEMORY_BYTES_MAX,
  PARSE_MEMORY_SHARE_MAX,
  PARSE_PROCESSES_PER_CORE,
  PARSE_STEP_CPU_MS_MAX,
  PARSE_STEP_MS_MAX,
  REQUESTS_MEMORY_SHARE,
} from '../core/limits/machine.ts'
import { databasePath, secureDataDir } from '../data-folder/data-folder.ts'
import { fileStamp } from '../data-folder/files.ts'
import { explainStorage } from '../data-folder/operator-error.ts'
import { prepareRuntime } from '../native/runtime.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { openSqlite } from '../storage/sqlite/db.ts'
import { migrate } from '../storage/sqlite/migrate.ts'

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
    limits: { ...STEP_LIMITS, memoryBytes },
  })
  // A file may take a minute, and no turn waits for it.
  const forDocuments = createParserPool({
    command,
    clock,
    processes: { all: DOCUMENT_PROCESSES, perTenant: DOCUMENT_PROCESSES },
    limits: { ...WHOLE_LIMITS, memoryBytes },
  })
  const parser: Parser = {
    parse: (task, signal) =>
      (task.name === 'document' ? forDocuments : forTurns).parse(task, signal),
  }
  const close = async () => {
    await Promise.all([forTurns.close(), forDocuments.close()])
  }
  return { ...parser, close }
}

/** Recordings and pages give something every few milliseconds. */
const STEP_LIMITS = {
  ms: Number.POSITIVE_INFINITY,
  cpuMs: PARSE_CPU_MS_MAX,
  stepMs: PARSE_STEP_MS_MAX,
  stepCpuMs: PARSE_STEP_CPU_MS_MAX,
}
/** A file may have to be read whole before its first word. */
const WHOLE_LIMITS = {
  ms: DOCUMENT_MS_MAX,
  cpuMs: Number.POSITIVE_INFINITY,
  stepMs: Number.POSITIVE_INFINITY,
  stepCpuMs: Number.POSITIVE_INFINITY,
}

/**
 * Opens the data folder: places the native parts, migrates the database and starts its writer
 * thread, which `opening` waits for. Throws `OperatorError` for what is wrong with the folder.
 */
export async function openStorage(config: Config, now: Date, writerUrl: string) {
  const explain = (error: unknown) => {
    throw explainStorage(error, config.MB_DATA_DIR)
  }
  const { opening, ...storage } = await open(config.MB_DATA_DIR, now, writerUrl).catch(explain)
  const explained = opening.catch(explain)
  // Mark it as handled: it may fail before it is awaited.
  explained.catch(() => {})
  return { ...storage, opening: explained }
}

async function open(dataDir: string, now: Date, writerUrl: string) {
  secureDataDir(dataDir)
  const runtime = await prepareRuntime(dataDir)
  const file = { path: databasePath(dataDir), extensions: [runtime.vec0] }
  const upgradeCopy = migrate(file, MIGRATIONS, fileStamp(now))
  return { opening: openSqlite(file, writerUrl), runtime, file, upgradeCopy }
}
