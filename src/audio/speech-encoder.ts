import { SPEECH_RATE, type SpeechFormat } from '../channels/ports/audio.ts'
import { createMp3Factory, type Mp3Encoder } from './mp3.ts'
import { createResamplerFactory, type Resampler } from './resample.ts'

/** Encodes one speech: resamples it to 32 kHz and compresses it to mp3 when asked to. */
export interface SyncSpeechEncoder {
  /** `rate` may change between calls; no sample is lost. */
  push(pcm: Uint8Array, rate: number): Uint8Array
  finish(): Uint8Array
  release(): void
}

const NOTHING = new Uint8Array(0)

/** Creates encoders that share filters and idle mp3 encoders. Runs in the encoding thread. */
export function createSpeechEncoders() {
  const mp3Encoder = createMp3Factory()
  const resampler = createResamplerFactory()
  return async (format: SpeechFormat): Promise<SyncSpeechEncoder> =>
    encoderOf(format === 'mp3' ? await mp3Encoder() : null, resampler)
}

function encoderOf(
  mp3: Mp3Encoder | null,
  resamplerFor: (from: number, to: number) => Resampler,
): SyncSpeechEncoder {
  let rate = SPEECH_RATE
  let resampler = resamplerFor(rate, SPEECH_RATE)
  const encode = (pcm: Uint8Array) => (mp3 && pcm.length > 0 ? mp3.encode(pcm) : pcm)
  return {
    push(pcm, newRate) {
      if (newRate === rate) return encode(resampler.push(pcm))
      const tail = encode(resampler.flush())
      rate = newRate
      resampler = resamplerFor(rate, SPEECH_RATE)
      return Buffer.concat([tail, encode(resampler.push(pcm))])
    },
    finish() {
      return Buffer.concat([encode(resampler.flush()), mp3?.finish() ?? NOTHING])
    },
    release: () => mp3?.release(),
  }
}
