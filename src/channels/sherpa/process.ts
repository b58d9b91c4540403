import type { Clock } from '../../core/clock.ts'
import { RECOGNISER_LOAD_MS_MAX } from '../../core/limits/machine.ts'
import { CHILD_ENV } from '../child/child-env.ts'
import type { AsrAnswer, AsrRequest } from './protocol.ts'
import { createComplaint } from './stderr-summary.ts'

/** How the recognising process is started. */
export interface ProcessCommand {
  /** This executable, the command that makes it a recognising process, and the pack. */
  readonly argv: readonly string[]
}

export interface AsrProcess {
  /** Resolves when the model is loaded; rejects with `EngineUnloadable`. */
  readonly ready: Promise<void>
  /** Resolves when the process answers, between recordings. Throws `EngineLost`. */
  greet(): Promise<void>
  /** Throws `EngineLost` when the process is gone. */
  send(request: AsrRequest): void
  /** The next answer, one at a time. Rejects with `EngineLost` when the process ends before it. */
  answer(): Promise<AsrAnswer>
  kill(): void
  /** Resolves after `onExit` was called. */
  readonly exited: Promise<void>
}

/** The process ended or failed at a recording; the next one may go well. */
export class EngineLost extends Error {
  override readonly name = 'EngineLost'
}

/** The pack cannot be loaded; the message is the library's own, for the operator. */
export class EngineUnloadable extends Error {
  override readonly name = 'EngineUnloadable'
}

/** An idle process answers at once; one that does not is ended. */
const GREETING_MS = 5_000

/** Starts the process. `onExit` is called once, at its end. Throws `EngineLost`. */
export function startAsrProcess(
  { argv }: ProcessCommand,
  clock: Clock,
  onExit: () => void,
): AsrProcess {
  const complaint = createComplaint()
  let waiting: PromiseWithResolvers<AsrAnswer> | null = null
  const exit = Promise.withResolvers<void>()
  let ended = false
  const child = spawn(argv, {
    ipc: (answer) => waiting?.resolve(answer),
    onExit: () => {
      ended = true
      waiting?.reject(new EngineLost('the recognising process ended'))
      onExit()
      exit.resolve()
    },
  })
  const reading = complaint.read(child.stderr)
  // Without its exit handlers: there is nothing to save.
  const kill = () => child.kill('SIGKILL')

  async function answer(): Promise<AsrAnswer> {
    if (ended) throw new EngineLost('the recognising process has ended')
    waiting = Promise.withResolvers()
    try {
      return await waiting.promise
    } finally {
      waiting = null
    }
  }

  async function load(): Promise<void> {
    const giveUp = clock.after(RECOGNISER_LOAD_MS_MAX, kill)
    try {
      const first = await answer()
      if (first.type === 'ready') return
      throw new Error('message' in first ? first.message : 'unexpected first message')
    } catch (cause) {
      kill()
      await reading
      const words = complaint.words() ?? (cause instanceof Error ? cause.message : 'unknown')
      throw new EngineUnloadable(words, { cause })
    } finally {
      giveUp()
    }
  }

  function send(request: AsrRequest): void {
    try {
      child.send(request)
    } catch (cause) {
      throw new EngineLost('the recognising process is gone', { cause })
    }
  }

  async function greet(): Promise<void> {
    const giveUp = clock.after(GREETING_MS, kill)
    try {
      send({ type: 'hello' })
      await answer()
    } finally {
      giveUp()
    }
  }

  return { ready: load(), answer, greet, kill, exited: exit.promise, send }
}

interface Listeners {
  readonly ipc: (answer: AsrAnswer) => void
  readonly onExit: () => void
}

function spawn(argv: readonly string[], listeners: Listeners) {
  try {
    return Bun.spawn([...argv], {
      env: CHILD_ENV,
      stdio: ['ignore', 'ignore', 'pipe'],
      serialization: 'advanced',
      ...listeners,
    })
  } catch (cause) {
    throw new EngineLost('the recognising process cannot be started', { cause })
  }
}
