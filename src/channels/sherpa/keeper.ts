import type { Clock } from '../../core/clock.ts'
import { type AsrProcess, EngineLost, type ProcessCommand, startAsrProcess } from './process.ts'

/** Keeps one recognising process: started when it is needed, replaced when it died. */
export function createKeeper(command: ProcessCommand, clock: Clock) {
  let running: AsrProcess | null = null
  let closed = false

  function start(): AsrProcess {
    const fresh = startAsrProcess(command, clock, () => {
      if (running === fresh) running = null
    })
    running = fresh
    return fresh
  }

  /** The same process, if it has not died unnoticed while nobody asked it for anything. */
  async function living(process: AsrProcess): Promise<AsrProcess | null> {
    try {
      await process.ready
      await process.greet()
      return process
    } catch {
      return null
    }
  }

  /** Gives its memory back. A call that comes before the process has ended gets another one. */
  async function stop(): Promise<void> {
    const process = running
    running = null
    process?.kill()
    await process?.exited
  }

  return {
    /** The process with its model loaded. Throws `EngineUnloadable` or `EngineLost`. */
    async loaded(): Promise<AsrProcess> {
      const known = running && (await living(running))
      if (closed) throw new EngineLost('recognition is shut down')
      const process = known ?? start()
      await process.ready
      return process
    },
    stop,
    closed: () => closed,
    /** Resolves when no process is left. */
    async close(): Promise<void> {
      closed = true
      await stop()
    },
  }
}
