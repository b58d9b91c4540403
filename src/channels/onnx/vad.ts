import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type ChildCommand, ChildLost } from '../../upstream/child/child-process.ts'
import { createSupervisor } from '../../upstream/child/supervisor.ts'
import type { Vad } from '../../upstream/ports/speech.ts'
import type { VadAnswer, VadPart, VadRequest } from './vad-worker.ts'

export interface VadOptions {
  readonly command: ChildCommand
  readonly clock: Clock
  readonly log: Logger
}

/** Voice activity detection in a process of its own. */
export interface LocalVad extends Vad {
  /** Loads the model. Throws an error whose message is for the operator. */
  load(): Promise<void>
  close(): Promise<void>
}

/** The process ends after this time without sound. */
const IDLE_MS = 10 * 60_000
/** A packet takes a millisecond; after this time a stream goes on without the model. */
const ANSWER_MS_MAX = 1_000
/** After a failure the model is not used for this long. */
const RETRY_MS = 30_000

interface WaitingPart extends VadPart {
  readonly resolve: (heard: readonly number[] | null) => void
}

/** Sends the sound of all streams to the process in rounds; each has what came during the last. */
function createRounds({ command, clock, log }: VadOptions) {
  const supervisor = createSupervisor<VadRequest, VadAnswer>({ command, clock, idleMs: IDLE_MS })
  let waiting: WaitingPart[] = []
  let ended: number[] = []
  let isLoaded = false
  let isWorking = false
  let tryAgainAt = Number.NEGATIVE_INFINITY

  /** Answers all waiting calls with null; until the model is loaded again no call waits. */
  function giveUp(): void {
    isLoaded = false
    for (const { resolve } of waiting.splice(0)) resolve(null)
  }

  async function round(): Promise<void> {
    const cancelGiveUp = clock.after(ANSWER_MS_MAX, giveUp)
    const child = await supervisor.acquire().finally(cancelGiveUp)
    isLoaded = true
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    const cancel = clock.after(ANSWER_MS_MAX, child.kill)
    try {
      const parts = batch.map(({ stream, samples }) => ({ stream, samples }))
      child.send({ type: 'hear', parts, ended })
      ended = []
      const answer = await child.answer()
      if (answer.type === 'error') throw new ChildLost(answer.message)
      for (const [i, { resolve }] of batch.entries()) resolve(answer.parts[i] ?? null)
    } finally {
      cancel()
      for (const { resolve } of batch) resolve(null)
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
      // A process that gives errors is replaced.
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
    /** Whether the model is loaded, so that a call gets an answer. */
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
      // Loads the model before the first word is spoken.
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
