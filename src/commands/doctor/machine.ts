import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { HOUR_MS } from '../../core/clock.ts'
import { databasePath } from '../../data-folder/data-folder.ts'
import { statOrNull } from '../../data-folder/files.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** An open stream has one connection to its client and one to its model. */
const FILES_PER_STREAM = 2
/** Files besides those of streams: database, threads, processes, kept-alive connections. */
const FILES_ELSE = 100
/** Fewer streams are reported: they may not suffice in a busy hour. */
const STREAMS_GOOD = 500

/** Checks that the process may open enough files for all streams. */
export function checkFiles(
  { MB_MAX_STREAMS: promised }: Config,
  limit: number | null = openFilesMax(),
): Finding[] {
  if (limit === null) return []
  const name = 'Open files'
  const streams = Math.max(0, Math.floor((limit - FILES_ELSE) / FILES_PER_STREAM))
  const text = `at most ${limit}, enough for ${streams} streams at once`
  const mend = 'raise it: ulimit -n 65536, LimitNOFILE= in a service, --ulimit nofile= in Docker'
  return [streams < Math.min(promised, STREAMS_GOOD) ? warn(name, text, mend) : ok(name, text)]
}

/** The limit of open files; null when the system does not report it. */
function openFilesMax(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

const MIB = 1024 * 1024
/** Measured: the server takes 100 to 140 MiB, the embedding process as much again. */
const MEMORY_GOOD = 256 * MIB

/** Checks the memory of the machine, or of the container. */
export function checkMemory(bytes: number = process.constrainedMemory()): Finding {
  const name = 'Memory'
  const text = `${Math.floor(bytes / MIB)} MiB for this process`
  const mend = 'give it 256 MiB; with less the embedding process is killed and restarted'
  return bytes < MEMORY_GOOD ? warn(name, text, mend) : ok(name, text)
}

/** When the executable was built, in epoch milliseconds; the build defines it. */
declare const BUILT_AT: number | undefined

/** A clock before the build time is wrong. Run from source, the time is one before all builds. */
const BUILT = typeof BUILT_AT === 'undefined' ? Date.UTC(2026, 0, 1) : BUILT_AT

/** Checks that the clock may be right: certificates, logins and retention depend on it. */
export function checkClock({ MB_DATA_DIR: dataDir }: Config, now: number): Finding {
  const name = 'Clock'
  const text = `it is ${new Date(now).toISOString().slice(0, 16)}Z`
  const mend = 'set the clock, for instance: timedatectl set-ntp true'
  if (now < BUILT) return fail(name, `${text}, which has passed`, mend)
  const written = statOrNull(databasePath(dataDir))?.mtimeMs ?? 0
  const ahead = written > now + HOUR_MS
  return ahead ? warn(name, `${text}, and data was written later than that`, mend) : ok(name, text)
}
