import type { Clock } from '../../core/clock.ts'
import {
  PARSE_CPU_MS_MAX,
  PARSE_STEP_CPU_MS_MAX,
  PARSE_STEP_MS_MAX,
} from '../../core/limits/machine.ts'
import { usageOf } from '../child/usage.ts'

/** A library that allocates as fast as it can gets some 30 MB further in this time. */
const LOOK_EVERY_MS = 50

export interface WatchedProcess {
  readonly pid: number
  kill(): void
}

/**
 * Kills the process when it has more than `memoryBytes`, uses more processor time than a task or a
 * step may, or gives nothing for long. `step` begins a step. Processor time is that of the process,
 * so a busy machine ends no honest task.
 */
export function watch(process: WatchedProcess, memoryBytes: number, clock: Clock) {
  let stepBegan = clock.steady()
  let atStart: number | null = null
  let atStep: number | null = null
  let now: number | null = null
  let ended = false

  async function look(): Promise<void> {
    const usage = await usageOf(process.pid)
    if (usage === null || ended) return
    now = usage.cpuMs
    atStart ??= now
    atStep ??= now
    const exceeded =
      usage.memoryBytes > memoryBytes ||
      clock.steady() - stepBegan > PARSE_STEP_MS_MAX ||
      (now ?? 0) - (atStart ?? 0) > PARSE_CPU_MS_MAX ||
      (now ?? 0) - (atStep ?? 0) > PARSE_STEP_CPU_MS_MAX
    if (exceeded) process.kill()
  }

  const cancel = clock.every(LOOK_EVERY_MS, () => void look())
  return {
    step(): void {
      stepBegan = clock.steady()
      atStep = now
    },
    end(): void {
      ended = true
      cancel()
    },
  }
}
