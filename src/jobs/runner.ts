import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** Runs background work, so that the stop of the server can end it and wait for it. */
export function createJobs({ clock, log }: { clock: Clock; log: Logger }) {
  const running = new Set<Promise<void>>()
  const timers: (() => void)[] = []
  const stopping = new AbortController()

  function run(name: string, work: (signal: AbortSignal) => Promise<unknown>): void {
    if (stopping.signal.aborted) return
    const job = work(stopping.signal)
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) log.error('job failed', { job: name, ...errorFields(error) })
      })
      .finally(() => running.delete(job))
    running.add(job)
  }

  return {
    run,
    /** Runs `work` every `ms` from now on. */
    every(name: string, ms: number, work: (signal: AbortSignal) => Promise<unknown>): void {
      timers.push(clock.every(ms, () => run(name, work)))
    },
    /** Resolves when no job is running. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
    },
    /** Starts nothing more, aborts the running jobs and waits for them. */
    async close(): Promise<void> {
      for (const stop of timers) stop()
      stopping.abort()
      while (running.size > 0) await Promise.all(running)
    },
  }
}

export type Jobs = ReturnType<typeof createJobs>

type Work = (signal: AbortSignal) => Promise<unknown>

/** Leaves out calls, so that `work` runs for a tenth of the time where each call takes long. */
export function tenthOfTime({ steady }: Pick<Clock, 'steady'>, work: Work): Work {
  let next = -Infinity
  let running: Promise<unknown> | null = null
  return async (signal) => {
    const begun = steady()
    if (begun < next) return
    running ??= work(signal).finally(() => {
      running = null
      next = steady() + 9 * (steady() - begun)
    })
    await running
  }
}
