import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { ASR_CALLS_MAX, ASR_MS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Asr } from '../ports/asr.ts'
import { type AudioCodecs, RECOGNISER_RATE } from '../ports/audio.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { EngineLost, EngineUnloadable, type ProcessCommand } from './process.ts'
import { createRecogniser } from './recogniser.ts'
import { createTurns } from './turns.ts'

export interface SherpaAsrOptions {
  readonly command: ProcessCommand
  readonly clock: Clock
  readonly log: Logger
  readonly codecs: Pick<AudioCodecs, 'decode'>
}

/** Offline recognition by a voice pack, in a process of its own; and how that process is. */
export interface SherpaAsr extends Asr {
  /** Loads the model; throws an error with words for the operator when that cannot be done. */
  load(): Promise<void>
  /** How the last recognition went, whatever the recording was; null when there was none yet. */
  lastOk(): boolean | null
  close(): Promise<void>
}

/** One recording at a time, as the model uses several processor cores; the others wait a while. */
export function createSherpaAsr(options: SherpaAsrOptions): SherpaAsr {
  const { clock, log, codecs } = options
  const recogniser = createRecogniser(options)
  const turns = createTurns(ASR_CALLS_MAX)
  let lastOk: boolean | null = null

  async function recognise(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
    try {
      const pcm = codecs.decode(bytes, RECOGNISER_RATE, signal)
      const text = await recogniser.recognise(pcm, signal)
      lastOk = true
      return text
    } catch (error) {
      if (!(error instanceof EngineLost || error instanceof EngineUnloadable)) throw error
      lastOk = false
      log.error('speech recognition failed', errorFields(error))
      const phrase = error instanceof EngineLost ? 'process ended' : 'voice pack cannot be loaded'
      throw new ChannelFailure('channel_unavailable', phrase, { cause: error })
    }
  }

  return {
    name: 'local',
    load: recogniser.load,
    lastOk: () => lastOk,
    close: recogniser.close,
    async transcribe({ bytes }, signal) {
      const late = new AbortController()
      const tooLate = new ChannelFailure('provider_error', 'recognition takes too long')
      const cancel = clock.after(ASR_MS_MAX, () => late.abort(tooLate))
      const ended = AbortSignal.any([signal, late.signal])
      try {
        const leave = await turns.enter(ended)
        if (!leave) throw new ChannelFailure('channel_unavailable', 'too many recordings wait')
        return await orAborted(recognise(bytes, ended).finally(leave), ended)
      } finally {
        cancel()
      }
    },
  }
}
