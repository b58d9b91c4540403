import { lowerThreadPriority } from '../core/time-slice.ts'
import type { SpeechFormat } from '../upstream/ports/speech.ts'
import { createMp3Factory, type Mp3Encoder } from './mp3.ts'
import type { OpusEncoder } from './opus.ts'
import { createResamplerFactory, type Resampler } from './resample.ts'

/** The formats that the thread encodes; wav is PCM after a header. */
export type EncodedFormat = Exclude<SpeechFormat, 'wav'>

/** Messages to the encoding thread; `id` names a speech. */
export type EncodeRequest =
  | {
      readonly type: 'open'
      readonly id: number
      readonly format: EncodedFormat
      readonly rate: number
    }
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
const encoders = new Map<number, Promise<ThreadEncoder>>()

self.onmessage = async ({ data: request }: MessageEvent<EncodeRequest>) => {
  const { id } = request
  if (request.type === 'open') {
    const encoder = createEncoder(request.format, request.rate)
    // The first sound gets the error. Unhandled until then, it would end the thread, and with it
    // the other speeches.
    encoder.catch(() => {})
    encoders.set(id, encoder)
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

/** Encodes one speech: resamples it, and compresses it when asked to. */
interface ThreadEncoder {
  /** `rate` may change between calls; no sample is lost. */
  push(pcm: Uint8Array, rate: number): Promise<Uint8Array>
  finish(): Promise<Uint8Array>
  release(): void
}

const NOTHING = new Uint8Array(0)

/** Creates encoders that share filters and idle mp3 encoders. */
function createSpeechEncoders() {
  const mp3Encoder = createMp3Factory()
  const resampler = createResamplerFactory()
  const compressors = {
    mp3: mp3Encoder,
    // Loaded with the first Opus speech: the container library takes longer than the rest.
    opus: async () => (await import('./opus.ts')).createOpusEncoder(),
    packets: async () => (await import('./opus-packets.ts')).createOpusPackets(),
    pcm: async () => null,
  } satisfies Record<EncodedFormat, () => Promise<Mp3Encoder | OpusEncoder | null>>
  return async (format: EncodedFormat, rate: number): Promise<ThreadEncoder> =>
    encoderOf(await compressors[format](), rate, resampler)
}

function encoderOf(
  compressor: Mp3Encoder | OpusEncoder | null,
  outRate: number,
  resamplerFor: (from: number, to: number) => Resampler,
): ThreadEncoder {
  let rate = outRate
  let resampler = resamplerFor(rate, outRate)
  const encode = async (pcm: Uint8Array) =>
    compressor && pcm.length > 0 ? await compressor.encode(pcm) : pcm
  return {
    async push(pcm, newRate) {
      if (newRate === rate) return encode(resampler.push(pcm))
      const tail = await encode(resampler.flush())
      rate = newRate
      resampler = resamplerFor(rate, outRate)
      return Buffer.concat([tail, await encode(resampler.push(pcm))])
    },
    async finish() {
      const tail = await encode(resampler.flush())
      return Buffer.concat([tail, (await compressor?.finish()) ?? NOTHING])
    },
    release: () => compressor?.release(),
  }
}
