import { availableParallelism, totalmem } from 'node:os'
import { createParserPool } from '../channels/parser/pool.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import {
  BODY_COST,
  PARSE_MEMORY_BYTES_MAX,
  PARSE_MEMORY_SHARE_MAX,
  PARSE_PROCESSES_PER_CORE,
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
  return createParserPool({
    command: { argv },
    clock,
    processes: { all, perTenant: Math.ceil(all / PARSE_PROCESSES_PER_CORE) },
    memoryBytes,
  })
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
