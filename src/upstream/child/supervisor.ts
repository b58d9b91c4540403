import type { Clock } from '../../core/clock.ts'
import { type Child, type ChildCommand, ChildLost, startChild } from './child-process.ts'

export interface SupervisorOptions {
  readonly command: ChildCommand
  readonly clock: Clock
  /** A process without work for this long is ended, which gives its memory back. */
  readonly idleMs: number
}

/**
 * Keeps one child process: starts it when it is needed, replaces it when it has died and ends it
 * when it is idle.
 */
export function createSupervisor<Request, Answer>(options: SupervisorOptions) {
  const { command, clock, idleMs } = options
  let running: Child<Request, Answer> | null = null
  let closed = false
  let cancelIdle = () => {}

  function start(): Child<Request, Answer> {
    const child = startChild<Request, Answer>(command, clock, () => {
      if (running === child) running = null
    })
    // Awaited by the caller of `acquire`; marked as handled in case that caller has left.
    child.ready.catch(() => {})
    running = child
    return child
  }

  /** The running child if it answers, else null. */
  async function living(): Promise<Child<Request, Answer> | null> {
    const child = running
    try {
      await child?.ready
      await child?.ping()
      return child
    } catch {
      return null
    }
  }

  async function stop(): Promise<void> {
    cancelIdle()
    const child = running
    running = null
    child?.kill()
    await child?.exited
  }

  return {
    /**
     * Resolves with the loaded process, which stays up until `release`; one caller at a time.
     * Throws `ChildLost` or `ChildUnloadable`.
     */
    async acquire(): Promise<Child<Request, Answer>> {
      cancelIdle()
      const known = running && (await living())
      if (closed) throw new ChildLost('the server is shutting down')
      const child = known ?? start()
      await child.ready
      return child
    },

    /** The caller of `acquire` has no more work for now. */
    release(): void {
      if (!closed && running) cancelIdle = clock.after(idleMs, () => void stop())
    },

    /** Whether a process is running, so that work for it starts at once. */
    isUp: () => running !== null,
    isClosed: () => closed,

    /** Ends the process; a later `acquire` starts another one. */
    stop,

    /** Resolves when no process is left; none is started afterwards. */
    async close(): Promise<void> {
      closed = true
      await stop()
    },
  }
}

export type Supervisor<Request, Answer> = ReturnType<typeof createSupervisor<Request, Answer>>
