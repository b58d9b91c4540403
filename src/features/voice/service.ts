import { availableParallelism } from 'node:os'
import { appError } from '../../core/errors.ts'
import { VOICE_REQUESTS_GREED, VOICE_REQUESTS_PER_CORE } from '../../core/limits/machine.ts'
import type { Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { ChannelFailure, openAiCodeOf } from '../../upstream/ports/failure.ts'
import type {
  Asr,
  AsrHints,
  AudioClip,
  AudioCodecs,
  Transcript,
  Tts,
} from '../../upstream/ports/speech.ts'
import { encodeSpeech, type SpeechOutput, speechMp3, type Utterance } from './speech.ts'

/** The recognition in use. */
export interface Hearing {
  /** Null when the operator has configured none. */
  readonly asr: Asr | null
  /** Whether silence is answered without asking the recogniser. */
  readonly skipSilence: boolean
}

export interface VoiceOptions {
  /** The synthesis in use; null when the operator has configured none. */
  readonly tts: { readonly current: Tts | null }
  readonly hearing: { readonly current: Hearing }
  readonly codecs: AudioCodecs
  readonly log: Logger
  /** Slots for speeches, and as many for recognitions; by default by the number of cores. */
  readonly requestsMax?: number
}

type Work = 'speech synthesis' | 'speech recognition'

/**
 * Speech synthesis and recognition. Tenants share the slots of both; requests beyond a tenant's
 * share wait. A failure of an upstream becomes a 502 with a short sentence.
 */
export function createVoice(options: VoiceOptions) {
  const { tts, hearing, codecs, log } = options
  const slots = options.requestsMax ?? availableParallelism() * VOICE_REQUESTS_PER_CORE
  const speeches = createSemaphore({ slots, greed: VOICE_REQUESTS_GREED })
  const hearings = createSemaphore({ slots, greed: VOICE_REQUESTS_GREED })

  const failed = (stage: Work, error: unknown, signal: AbortSignal) => {
    // The client has disconnected: the error is only for the request log.
    if (signal.aborted) return appError('canceled', {}, { cause: error })
    if (!(error instanceof ChannelFailure)) return error
    log.warn(`${stage} failed`, { reason: error.reason, phrase: error.phrase })
    const code = stage === 'speech synthesis' ? 'tts_unavailable' : 'asr_unavailable'
    return appError(code, {}, { cause: error, openAiCode: openAiCodeOf(error) })
  }

  const speaker = (): Tts => {
    if (tts.current === null) throw appError('tts_not_configured')
    return tts.current
  }

  return {
    /** The kind of synthesis; null when none is configured. */
    speaks: (): string | null => tts.current?.name ?? null,

    /** The kind of recognition; null when none is configured. */
    hears: (): string | null => hearing.current.asr?.name ?? null,

    /** Speaks a text; resolves with the parts of an mp3 of 32 kHz and 128 kbps. */
    async speak(utterance: Utterance, signal: AbortSignal): Promise<readonly Uint8Array[]> {
      const options = { tts: speaker(), codecs }
      const work = () => speechMp3(options, utterance, signal)
      return speeches.run(utterance.tenantId, work, signal).catch((error: unknown) => {
        throw failed('speech synthesis', error, signal)
      })
    },

    /**
     * Speaks a text as a stream. Resolves with the first sound, so that a failing start can still
     * become an error status; the iteration throws the error of a later failure.
     */
    async stream(
      utterance: Utterance,
      output: SpeechOutput,
      signal: AbortSignal,
    ): Promise<AsyncGenerator<Uint8Array>> {
      const options = { tts: speaker(), codecs }
      const report = (error: unknown) => failed('speech synthesis', error, signal)
      const release = await speeches.acquire(utterance.tenantId, signal).catch((error: unknown) => {
        throw report(error)
      })
      // Releases the slot when the client disconnects, even if it never read.
      signal.addEventListener('abort', release, { once: true })
      const pcm = encodeSpeech(options, utterance, output, signal)
      try {
        const first = await pcm.next()
        return untilFailure(first, pcm, report, release)
      } catch (error) {
        release()
        throw report(error)
      }
    },

    /** Whether recognition can give the times of words. */
    tellsWords: (): boolean => hearing.current.asr?.tellsWords ?? false,

    /**
     * Recognises a recording. The text is trimmed, and empty for silence; Chinese without hints.
     */
    async transcribe(clip: AudioClip, signal: AbortSignal, hints?: AsrHints): Promise<Transcript> {
      const { asr, skipSilence } = hearing.current
      if (asr === null) throw appError('asr_not_configured')
      if (!codecs.isRecording(clip.bytes)) throw appError('file_unsupported', {}, { param: 'file' })
      const work = () => hear({ asr, codecs, skipSilence }, clip, signal, hints)
      return hearings.run(clip.tenantId, work, signal).catch((error: unknown) => {
        throw failed('speech recognition', error, signal)
      })
    },

    /** Seconds of a recording; 0 when unknown. */
    duration: (clip: AudioClip, signal: AbortSignal): Promise<number> =>
      codecs.duration(clip, signal),
  }
}

export type Voice = ReturnType<typeof createVoice>

async function* untilFailure(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  report: (error: unknown) => unknown,
  release: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } catch (error) {
    throw report(error)
  } finally {
    release()
    await rest.return(undefined)
  }
}

export interface HearingOptions {
  readonly asr: Asr
  readonly codecs: Pick<AudioCodecs, 'isSilent'>
  /** Whether silence is answered without asking the recogniser. */
  readonly skipSilence: boolean
}

/** Texts that Whisper invents for silence: subtitles of its training data, and our own prompt. */
const INVENTED = new RegExp(
  [
    '字幕|点赞|訂閱|订阅|打赏|明镜|以下是普通话|amara\\.org|thank(s| you) for watching',
    '(谢谢|謝謝|感谢|感謝)(观看|觀看|收看|收听|大家)',
    '^[\\p{P}\\p{S}\\s]*(you|bye|嗯|啊)?[\\p{P}\\p{S}\\s]*$',
  ].join('|'),
  'iu',
)

const NOTHING: Transcript = { text: '', segments: [] }

/** Recognises a recording. The text is trimmed, and empty for silence. */
export async function hear(
  { asr, codecs, skipSilence }: HearingOptions,
  clip: AudioClip,
  signal: AbortSignal,
  hints?: AsrHints,
): Promise<Transcript> {
  const silent = (await codecs.isSilent(clip.bytes)) === true
  if (silent && skipSilence) return NOTHING
  const heard = await asr.transcribe(clip, signal, hints)
  const text = heard.text.trim()
  return silent && INVENTED.test(text) ? NOTHING : { ...heard, text }
}
