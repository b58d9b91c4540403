import { type AudioCodecs, SPEECH_RATE } from '../../channels/ports/audio.ts'
import { ChannelFailure } from '../../channels/ports/failure.ts'
import type { PcmStream, Tts } from '../../channels/ports/tts.ts'
import { TTS_AUDIO_SECONDS_MAX } from '../../core/limits/upstream.ts'
import { splitSpeech } from './split.ts'

export interface SpeechOptions {
  readonly tts: Tts
  readonly codecs: Pick<AudioCodecs, 'resampler' | 'mp3Encoder'>
}

export interface Utterance {
  readonly text: string
  readonly voice: string
}

const BYTES_MAX = TTS_AUDIO_SECONDS_MAX * SPEECH_RATE * 2

/**
 * A text of any length as 32 kHz samples (signed 16-bit little-endian mono, whole samples only).
 * The next piece is asked for while one is played. Throws `ChannelFailure`; leaving the iteration
 * or aborting the signal ends what runs upstream.
 */
export async function* speechPcm(
  { tts, codecs }: SpeechOptions,
  { text, voice }: Utterance,
  caller: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const done = new AbortController()
  const signal = AbortSignal.any([caller, done.signal])
  const begin = (piece: string): Promise<PcmStream> => {
    const stream = tts.speak({ text: piece, voice }, signal)
    // It is awaited later, or not at all when an earlier piece fails.
    stream.catch(() => {})
    return stream
  }
  const [first = '', ...rest] = splitSpeech(text, tts.textCharsMax)
  const output = createOutput(codecs)
  try {
    let coming: Promise<PcmStream> | null = begin(first)
    while (coming !== null) {
      const stream: PcmStream = await coming
      const next = rest.shift()
      coming = next === undefined ? null : begin(next)
      yield* output.play(stream)
    }
    yield* output.finish()
  } finally {
    done.abort(new Error('no longer needed'))
  }
}

/** One resampler for all pieces, so that their borders cannot be heard. */
function createOutput(codecs: SpeechOptions['codecs']) {
  let rate = SPEECH_RATE
  let resampler = codecs.resampler(rate, SPEECH_RATE)
  let bytes = 0
  const counted = function* (pcm: Uint8Array): Generator<Uint8Array> {
    bytes += pcm.length
    if (bytes > BYTES_MAX) throw new ChannelFailure('provider_error', 'too much audio')
    if (pcm.length > 0) yield pcm
  }
  return {
    async *play(stream: PcmStream): AsyncGenerator<Uint8Array> {
      if (stream.rate !== rate) {
        yield* counted(resampler.flush())
        rate = stream.rate
        resampler = codecs.resampler(rate, SPEECH_RATE)
      }
      for await (const chunk of stream.chunks) yield* counted(resampler.push(chunk))
    },
    *finish(): Generator<Uint8Array> {
      yield* counted(resampler.flush())
      if (bytes === 0) throw new ChannelFailure('provider_error', 'empty audio')
    },
  }
}

/** The whole text as one mp3; a failure in its middle is a failure of all. */
export async function speechMp3(
  options: SpeechOptions,
  utterance: Utterance,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await options.codecs.mp3Encoder()
  try {
    const frames: Uint8Array[] = []
    for await (const pcm of speechPcm(options, utterance, signal)) frames.push(encoder.encode(pcm))
    frames.push(encoder.finish())
    return Buffer.concat(frames)
  } finally {
    encoder.release()
  }
}
