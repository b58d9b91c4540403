import { SPEECH_RATE, type SpeechFormat } from '../channels/ports/speech.ts'
import { lowerThreadPriority } from '../core/priority.ts'
import { createMp3Factory, type Mp3Encoder } from './mp3.ts'
import { createResamplerFactory, type Resampler } from './resample.ts'

/** Messages to the encoding thread; `id` names a speech. */
export type EncodeRequest =
  | { readonly type: 'open'; readonly id: number; readonly format: SpeechFormat }
  | {
      readonly type: 'pcm'
      readonly id: number
      readonly pcm: Uint8Array
      readonly rate: number
    }
  | { readonly type: 'finish'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }

/** The answer to `pcm` and `finish`; null when the sound cannot be encoded. */
export interface EncodeAnswer {
  readonly id: number
  readonly bytes: Uint8Array | null
}

declare const self: Worker

lowerThreadPriority()
const createEncoder = createSpeechEncoders()
const encoders = new Map<number, Promise<SyncSpeechEncoder>>()

self.onmessage = async ({ data: request }: MessageEvent<EncodeRequest>) => {
  const { id } = request
  if (request.type === 'open') {
    encoders.set(id, createEncoder(request.format))
    return
  }
  if (request.type === 'close') {
    const encoder = encoders.get(id)
    encoders.delete(id)
    await encoder?.then((open) => open.release()).catch(() => {})
    return
  }
  const bytes = await encode(request).catch(() => null)
  self.postMessage({ id, bytes } satisfies EncodeAnswer)
}

async function encode(request: EncodeRequest): Promise<Uint8Array | null> {
  const encoder = await encoders.get(request.id)
  if (encoder === undefined) return null
  return request.type === 'pcm' ? encoder.push(request.pcm, request.rate) : encoder.finish()
}

/** Encodes one speech: resamples it to 32 kHz and compresses it to mp3 when asked to. */
interface SyncSpeechEncoder {
  /** `rate` may change between calls; no sample is lost. */
  push(pcm: Uint8Array, rate: number): Uint8Array
  finish(): Uint8Array
  release(): void
}

const NOTHING = new Uint8Array(0)

/** Creates encoders that share filters and idle mp3 encoders. */
function createSpeechEncoders() {
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
