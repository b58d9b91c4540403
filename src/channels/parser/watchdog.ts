import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import type { Clock } from '../../core/clock.ts'

/** A library that allocates as fast as it can takes some 30 MB in this time. */
const LOOK_EVERY_MS = 50

/** The limits of one task. */
export interface TaskLimits {
  readonly memoryBytes: number
  /** Elapsed time. */
  readonly ms: number
  /** Processor time. */
  readonly cpuMs: number
  /** The same until the next part of the result. */
  readonly stepMs: number
  readonly stepCpuMs: number
}

export interface WatchedProcess {
  readonly pid: number
  kill(): void
}

/**
 * Kills the process when its task exceeds the limits. `step` begins a step. Counting processor time
 * keeps a busy machine from ending honest tasks.
 */
export function watch(process: WatchedProcess, limits: TaskLimits, clock: Clock) {
  const began = clock.steady()
  let stepBegan = began
  let atStart: number | null = null
  let atStep: number | null = null
  let now: number | null = null
  let ended = false
  let isLate = false

  async function look(): Promise<void> {
    const usage = await usageOf(process.pid)
    if (usage === null || ended) return
    now = usage.cpuMs
    atStart ??= now
    atStep ??= now
    isLate = clock.steady() - began >= limits.ms
    const exceeded =
      isLate ||
      usage.memoryBytes > limits.memoryBytes ||
      clock.steady() - stepBegan > limits.stepMs ||
      (now ?? 0) - (atStart ?? 0) > limits.cpuMs ||
      (now ?? 0) - (atStep ?? 0) > limits.stepCpuMs
    if (exceeded) process.kill()
  }

  const cancel = clock.every(LOOK_EVERY_MS, () => void look())
  return {
    step(): void {
      stepBegan = clock.steady()
      atStep = now
    },
    /** Whether the process was killed because its task took too much time by the clock. */
    isLate: (): boolean => isLate,
    end(): void {
      ended = true
      cancel()
    },
  }
}

/** The memory and processor time of a process. */
export interface ProcessUsage {
  /** Resident memory that belongs to it alone; files it has mapped are left out on Linux. */
  readonly memoryBytes: number
  /** Processor time since its start; null where the system does not tell it cheaply. */
  readonly cpuMs: number | null
}

/** The kernel counts processor time for /proc in hundredths of a second on every architecture. */
const MS_PER_TICK = 10
/** Fields of /proc/PID/stat behind the command name (proc_pid_stat(5)). */
const [UTIME, STIME] = [11, 12]

/** Null when the process has ended. Linux reads /proc; other systems ask `ps`. */
export async function usageOf(pid: number): Promise<ProcessUsage | null> {
  try {
    return platform() === 'linux' ? fromProc(pid) : await fromPs(pid)
  } catch {
    return null
  }
}

function fromProc(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? /^VmRSS:\s+(\d+) kB$/m.exec(status)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command name is in brackets and may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    memoryBytes: Number(kilobytes?.[1]) * 1024,
    cpuMs: (Number(fields[UTIME]) + Number(fields[STIME])) * MS_PER_TICK,
  }
}

async function fromPs(pid: number): Promise<ProcessUsage> {
  const ps = Bun.spawn(['ps', '-o', 'rss=', '-p', String(pid)], { stderr: 'ignore' })
  const kilobytes = Number.parseInt(await new Response(ps.stdout).text(), 10)
  return { memoryBytes: kilobytes * 1024, cpuMs: null }
}
