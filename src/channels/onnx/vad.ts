import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type ChildCommand, ChildLost } from '../child/child-process.ts'
import { createSupervisor } from '../child/supervisor.ts'
import type { Vad } from '../ports/speech.ts'
import type { VadAnswer, VadPart, VadRequest } from './vad-worker.ts'

export interface VadOptions {
  readonly command: ChildCommand
  readonly clock: Clock
  readonly log: Logger
}

/** Voice activity detection in a process of its own. */
export interface LocalVad extends Vad {
  /** Loads the model; throws an error with words for the operator when that cannot be done. */
  load(): Promise<void>
  close(): Promise<void>
}

/** The process ends after this time without sound. */
const IDLE_MS = 10 * 60_000
/** A packet takes a millisecond; who listens has to go on in time. */
const ANSWER_MS_MAX = 1_000
/** After a failure nobody is heard by the model for this long. */
const RETRY_MS = 30_000

interface Waiting extends VadPart {
  readonly resolve: (heard: readonly number[] | null) => void
}

/** The sound of all streams goes to the process in rounds: what came during the last one. */
function createRounds({ command, clock, log }: VadOptions) {
  const supervisor = createSupervisor<VadRequest, VadAnswer>({ command, clock, idleMs: IDLE_MS })
  let waiting: Waiting[] = []
  let ended: number[] = []
  let isLoaded = false
  let isWorking = false
  let tryAgainAt = Number.NEGATIVE_INFINITY

  /** Who waits goes on without an answer; until the model is loaded nobody waits for it. */
  function giveUp(): void {
    isLoaded = false
    for (const { resolve } of waiting.splice(0)) resolve(null)
  }

  async function round(): Promise<void> {
    const cancelGiveUp = clock.after(ANSWER_MS_MAX, giveUp)
    const child = await supervisor.acquire().finally(cancelGiveUp)
    isLoaded = true
    const asked = waiting
    waiting = []
    if (asked.length === 0) return
    const cancel = clock.after(ANSWER_MS_MAX, child.kill)
    try {
      const parts = asked.map(({ stream, samples }) => ({ stream, samples }))
      child.send({ type: 'hear', parts, ended })
      ended = []
      const answer = await child.answer()
      if (answer.type === 'error') throw new ChildLost(answer.message)
      for (const [i, { resolve }] of asked.entries()) resolve(answer.parts[i] ?? null)
    } finally {
      cancel()
      for (const { resolve } of asked) resolve(null)
    }
  }

  async function work(): Promise<void> {
    if (isWorking || clock.steady() < tryAgainAt || supervisor.isClosed()) return
    isWorking = true
    try {
      do await round()
      while (waiting.length > 0)
    } catch (error) {
      giveUp()
      ended = []
      tryAgainAt = clock.steady() + RETRY_MS
      if (!supervisor.isClosed()) log.warn('voice detector failed', errorFields(error))
      // One that gives errors is started anew.
      await supervisor.stop()
    } finally {
      supervisor.release()
      isWorking = false
    }
  }

  return {
    work,
    hear(stream: number, samples: Int16Array): Promise<readonly number[] | null> {
      const { promise, resolve } = Promise.withResolvers<readonly number[] | null>()
      // A copy, because a structured clone of a view includes its whole buffer.
      waiting.push({ stream, samples: samples.slice(), resolve })
      void work()
      return promise
    },
    end: (stream: number) => void ended.push(stream),
    /** Whether an answer can be waited for. */
    isReady: () => isLoaded && supervisor.isUp(),
    async load(): Promise<void> {
      await supervisor.acquire()
      supervisor.release()
    },
    close: supervisor.close,
  }
}

export function createLocalVad(options: VadOptions): LocalVad {
  const { work, hear, end, isReady, load, close } = createRounds(options)
  let lastId = 0
  return {
    open() {
      let stream = 0
      // It is loaded by the time that somebody speaks.
      void work()
      const reset = () => {
        if (stream > 0) end(stream)
        stream = 0
      }
      return {
        push(samples) {
          if (!isReady()) {
            void work()
            return null
          }
          stream ||= ++lastId
          return hear(stream, samples)
        },
        reset,
        close: reset,
      }
    },
    load,
    close,
  }
}
