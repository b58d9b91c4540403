import { TTS_AUDIO_SECONDS_MAX } from '../../core/limits/upstream.ts'
import { splitSpeech } from '../../speech/split.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import {
  type AudioCodecs,
  type PcmStream,
  SPEECH_RATE,
  type SpeechFormat,
  type SpeechRequest,
  type Tts,
} from '../../upstream/ports/speech.ts'

export interface SpeechOptions {
  readonly tts: Tts
  readonly codecs: Pick<AudioCodecs, 'speechEncoder'>
}

/** A text of any length, and how to speak it. */
export type Utterance = SpeechRequest

/** The format of a speech. */
export interface SpeechOutput {
  readonly format: SpeechFormat
  readonly rate: number
}

const MP3: SpeechOutput = { format: 'mp3', rate: SPEECH_RATE }

const SAMPLE_BYTES = 2

/**
 * Speaks a text of any length. Requests the next piece of the text while one is encoded. Throws
 * `ChannelFailure`; leaving the iteration or aborting the signal cancels the requests upstream.
 */
export async function* encodeSpeech(
  { tts, codecs }: SpeechOptions,
  { text, ...how }: Utterance,
  { format, rate: outRate }: SpeechOutput,
  caller: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const done = new AbortController()
  const signal = AbortSignal.any([caller, done.signal])
  const begin = (piece: string): Promise<PcmStream> => {
    const stream = tts.speak({ text: piece, ...how }, signal)
    // Marked as handled: it is awaited later, or never when an earlier piece fails.
    stream.catch(() => {})
    return stream
  }
  const pieces = splitSpeech(text, tts.textCharsMax)
  const beginNext = () => {
    const { value } = pieces.next()
    return value === undefined ? null : begin(value)
  }
  const encoder = codecs.speechEncoder(format, outRate)
  const sound = createSoundCount()
  try {
    let coming = beginNext()
    while (coming !== null) {
      const { rate, chunks }: PcmStream = await coming
      coming = beginNext()
      for await (const chunk of chunks) {
        sound.count(chunk, rate)
        yield* encoder.encode(chunk, rate)
      }
    }
    sound.checkThereWasSome()
    yield* encoder.finish()
  } finally {
    done.abort(new Error('no longer needed'))
    encoder.close()
  }
}

/** Throws for a speech without sound and for one that never ends. */
function createSoundCount() {
  let bytes = 0
  let seconds = 0
  return {
    count(chunk: Uint8Array, rate: number): void {
      bytes += chunk.length
      seconds += chunk.length / SAMPLE_BYTES / rate
      // One sample of tolerance for rounding.
      if (seconds > TTS_AUDIO_SECONDS_MAX + 1 / SPEECH_RATE) {
        throw new ChannelFailure('provider_error', 'too much audio')
      }
    },
    checkThereWasSome(): void {
      if (bytes < SAMPLE_BYTES) throw new ChannelFailure('provider_error', 'empty audio')
    },
  }
}

/** The whole text as the parts of one mp3; a failure in the middle fails the whole. */
export async function speechMp3(
  options: SpeechOptions,
  utterance: Utterance,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of encodeSpeech(options, utterance, MP3, signal)) parts.push(part)
  return parts
}
