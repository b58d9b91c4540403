import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { ASR_MS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import {
  type Child,
  type ChildCommand,
  ChildLost,
  ChildUnloadable,
} from '../../upstream/child/child-process.ts'
import { createSupervisor } from '../../upstream/child/supervisor.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import {
  type Asr,
  type AudioClip,
  type AudioCodecs,
  RECOGNISER_RATE,
  type Transcript,
} from '../../upstream/ports/speech.ts'
import type { AsrAnswer, AsrRequest } from './worker.ts'

export interface SherpaAsrOptions {
  readonly command: ChildCommand
  readonly clock: Clock
  readonly log: Logger
  readonly codecs: Pick<AudioCodecs, 'decode'>
}

/** Offline recognition by a voice pack, in a process of its own. */
export interface SherpaAsr extends Asr {
  /** Loads the model. Throws an error whose message is for the operator. */
  load(): Promise<void>
  /** Whether the last recognition worked, whatever the recording was; null before the first. */
  lastOk(): boolean | null
  close(): Promise<void>
}

/** The process ends after this time without work. */
const IDLE_MS = 10 * 60_000
/** How long the process may continue with a cancelled recording. */
const CANCEL_MS = 15_000

type AsrProcess = Child<AsrRequest, AsrAnswer>

/** The recogniser process: one call at a time. */
function createRecogniser({ command, clock, codecs }: SherpaAsrOptions) {
  const options = { command, clock, idleMs: IDLE_MS }
  const supervisor = createSupervisor<AsrRequest, AsrAnswer>(options)
  let lastId = 0

  /** Settles when the process is free for the next recording. */
  async function recognise(clip: AudioClip, signal: AbortSignal): Promise<Transcript> {
    const child = await supervisor.acquire()
    const id = ++lastId
    const answer = child.answer()
    // Awaited below; marked as handled in case the process ends while the recording is still read.
    answer.catch(() => null)
    try {
      for await (const pcm of codecs.decode(clip, RECOGNISER_RATE, signal)) {
        // A copy, because a structured clone of a view includes its whole buffer.
        child.send({ type: 'samples', id, pcm: pcm.slice() })
      }
      child.send({ type: 'end', id })
      const got = await orAborted(answer, signal)
      if (got.type === 'text' && got.id === id) return got.heard
      throw new ChildLost('message' in got ? got.message : 'unexpected answer')
    } catch (error) {
      if (!(error instanceof ChildLost)) await abandon(child, id, answer)
      throw error
    } finally {
      supervisor.release()
    }
  }

  /** Waits until the process is free again, or ends it. */
  async function abandon(child: AsrProcess, id: number, answer: Promise<unknown>): Promise<void> {
    const cancel = clock.after(CANCEL_MS, child.kill)
    try {
      child.send({ type: 'cancel', id })
      await answer
    } catch {
      // It ended, so the next call starts another one.
    } finally {
      cancel()
    }
  }

  return {
    recognise,
    async load(): Promise<void> {
      await supervisor.acquire()
      supervisor.release()
    },
    close: supervisor.close,
  }
}

/** Recognises one recording at a time, because the model uses several cores; tenants take turns. */
export function createSherpaAsr(options: SherpaAsrOptions): SherpaAsr {
  const { clock, log } = options
  const { recognise, load, close } = createRecogniser(options)
  const turns = createSemaphore({ slots: 1 })
  let lastOk: boolean | null = null

  async function hear(clip: AudioClip, signal: AbortSignal): Promise<Transcript> {
    try {
      const heard = await recognise(clip, signal)
      lastOk = true
      return heard
    } catch (error) {
      if (!(error instanceof ChildLost || error instanceof ChildUnloadable)) throw error
      lastOk = false
      log.error('speech recognition failed', errorFields(error))
      const phrase = error instanceof ChildLost ? 'process ended' : 'voice pack cannot be loaded'
      throw new ChannelFailure('channel_unavailable', phrase, { cause: error })
    }
  }

  return {
    name: 'local',
    load,
    lastOk: () => lastOk,
    close,
    async transcribe(clip, signal) {
      const late = new AbortController()
      const tooLate = new ChannelFailure('provider_error', 'recognition takes too long')
      const cancel = clock.after(ASR_MS_MAX, () => late.abort(tooLate))
      const ended = AbortSignal.any([signal, late.signal])
      try {
        const work = turns.run(clip.tenantId, () => hear(clip, ended), ended)
        return await orAborted(work, ended)
      } finally {
        cancel()
      }
    },
  }
}
