import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { PARSE_IDLE_MS } from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { timeSlice } from '../../core/time-slice.ts'
import type { ChildCommand } from '../../upstream/child/child-process.ts'
import { createSupervisor, type Supervisor } from '../../upstream/child/supervisor.ts'
import {
  ParseFailure,
  type ParseFailureReason,
  type Parser,
  type ParseTask,
} from '../../upstream/ports/parser.ts'
import { type TaskLimits, usageOf, watch } from './watchdog.ts'
import type { ParseAnswer, ParseRequest } from './worker.ts'

export interface ParserOptions {
  readonly command: ChildCommand
  readonly clock: Clock
  /** Processes of all tenants together, and of one tenant. */
  readonly processes: { readonly all: number; readonly perTenant: number }
  readonly limits: TaskLimits
  /** The failure of a task that takes too much time by the clock; `exhausting` by default. */
  readonly late?: ParseFailureReason
}

type Worker = Supervisor<ParseRequest, ParseAnswer>

/** Bytes of one message to a worker. */
const MESSAGE_BYTES = 256 * 1024

/**
 * Parse workers with one task at a time each: a file that makes a library loop or fill the memory
 * ends its own process and no other work. A worker is free again as soon as its task is done,
 * however slowly the result is read.
 */
export function createParserPool(options: ParserOptions): Parser & { close(): Promise<void> } {
  const { command, clock, limits, processes, late = 'exhausting' } = options
  const slots = createSemaphore({ slots: processes.all, perKey: processes.perTenant })
  const workers = Array.from({ length: processes.all }, () =>
    createSupervisor<ParseRequest, ParseAnswer>({ command, clock, idleMs: PARSE_IDLE_MS }),
  )
  const free = [...workers]

  /** Prefers a running worker to one that has to be started. */
  function takeWorker(): Worker {
    const index = free.findIndex((worker) => worker.isUp())
    return free.splice(Math.max(index, 0), 1)[0] as Worker
  }

  /** Does the task in a worker and gives its parts to `onPart`. */
  async function work(task: ParseTask, signal: AbortSignal, onPart: (part: unknown) => void) {
    const worker = takeWorker()
    let whole = false
    let reason: ParseFailureReason = 'exhausting'
    try {
      const child = await worker.acquire()
      signal.throwIfAborted()
      const watching = watch(child, limits, clock)
      try {
        const { name, options, bytes: input } = task
        const path = input instanceof Uint8Array ? null : input.path
        if (input instanceof Uint8Array) {
          for await (const bytes of pieces(input, clock)) child.send({ type: 'bytes', bytes })
        }
        child.send({ type: 'begin', name, options, path })
        for (;;) {
          const answer = await orAborted(child.answer(), signal)
          watching.step()
          if (answer.type === 'part') onPart(answer.part)
          if (answer.type === 'failed') whole = true
          if (answer.type === 'failed') throw new ParseFailure(answer.reason)
          if (answer.type === 'end') break
        }
        whole = true
      } finally {
        watching.end()
        if (watching.isLate()) reason = late
        // A process that stays large is replaced before the next task.
        const usage = await usageOf(child.pid)
        if ((usage?.memoryBytes ?? 0) > limits.memoryBytes / 2) whole = false
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ParseFailure) throw error
      throw new ParseFailure(reason, { cause: error })
    } finally {
      if (!whole) await worker.stop()
      worker.release()
      free.push(worker)
    }
  }

  return {
    async *parse(task, caller) {
      const left = new AbortController()
      const signal = AbortSignal.any([caller, left.signal])
      const parts = createParts<never>()
      const run = () => work(task, signal, (part) => parts.push(part as never))
      orAborted(slots.run(task.tenantId, run, signal), signal).then(parts.end, parts.fail)
      try {
        yield* parts.read()
      } finally {
        left.abort(new Error('the result is no longer needed'))
      }
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

/** Copies, because a structured clone of a view includes its whole buffer. */
async function* pieces(bytes: Uint8Array, clock: Clock): AsyncGenerator<Uint8Array> {
  const slice = timeSlice(clock.steady)
  for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) {
    yield bytes.slice(at, at + MESSAGE_BYTES)
    if (slice.isOver()) await slice.next()
  }
}

/** Parts that wait for their reader. */
function createParts<Part>() {
  const parts: Part[] = []
  let ended = false
  let failure: { readonly error: unknown } | null = null
  let wake = () => {}
  return {
    push(part: Part): void {
      parts.push(part)
      wake()
    },
    end(): void {
      ended = true
      wake()
    },
    fail(error: unknown): void {
      failure = { error }
      wake()
    },
    async *read(): AsyncGenerator<Part> {
      for (;;) {
        const part = parts.shift()
        if (part !== undefined) yield part
        else if (failure) throw failure.error
        else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
