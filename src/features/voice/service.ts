import type { Asr } from '../../channels/ports/asr.ts'
import type { AudioCodecs } from '../../channels/ports/audio.ts'
import { ChannelFailure } from '../../channels/ports/failure.ts'
import type { Tts } from '../../channels/ports/tts.ts'
import { appError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { TtsRequest } from './model.ts'
import { speechMp3, speechPcm } from './speech.ts'
import { hear } from './transcription.ts'

export interface VoiceOptions {
  /** Null when the operator has configured none. */
  readonly tts: Tts | null
  readonly asr: Asr | null
  readonly codecs: AudioCodecs
  readonly log: Logger
  /** Whether silence is answered without asking the recogniser. */
  readonly skipSilence: boolean
}

type Work = 'speech synthesis' | 'speech recognition'

/** Speaking and listening. Upstream faults become 502 with a short sentence and nothing more. */
export function createVoice({ tts, asr, codecs, log, skipSilence }: VoiceOptions) {
  const failed = (stage: Work, error: unknown, signal: AbortSignal) => {
    // Nobody reads this answer; the row in the request log is all that is left of it.
    if (signal.aborted) return appError('canceled', {}, { cause: error })
    if (!(error instanceof ChannelFailure)) return error
    log.warn(`${stage} failed`, { reason: error.reason, phrase: error.phrase })
    const code = stage === 'speech synthesis' ? 'tts_unavailable' : 'asr_unavailable'
    return appError(code, {}, { cause: error })
  }

  const speaker = (): Tts => {
    if (tts === null) throw appError('tts_not_configured')
    return tts
  }

  return {
    /** The text as mp3 of 32 kHz and 128 kbps. */
    async speak(request: TtsRequest, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
      const options = { tts: speaker(), codecs }
      return speechMp3(options, request, signal).catch((error: unknown) => {
        throw failed('speech synthesis', error, signal)
      })
    },

    /**
     * The text as PCM (signed 16-bit little-endian, 32 kHz, mono). Resolves with the first sound,
     * so that a failing start can still become an error status; what fails later ends the sound
     * early (specification, `POST /v1/tts/stream`).
     */
    async stream(request: TtsRequest, signal: AbortSignal): Promise<AsyncGenerator<Uint8Array>> {
      const options = { tts: speaker(), codecs }
      const pcm = speechPcm(options, request, signal)
      const first = await pcm.next().catch((error: unknown) => {
        throw failed('speech synthesis', error, signal)
      })
      return untilFailure(first, pcm, (error) => failed('speech synthesis', error, signal))
    },

    /** Recognised text, trimmed; empty when nobody speaks. */
    async transcribe(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
      if (asr === null) throw appError('asr_not_configured')
      return hear({ asr, codecs, skipSilence }, bytes, signal).catch((error: unknown) => {
        throw failed('speech recognition', error, signal)
      })
    },
  }
}

export type Voice = ReturnType<typeof createVoice>

async function* untilFailure(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  report: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } catch (error) {
    report(error)
  } finally {
    await rest.return(undefined)
  }
}
