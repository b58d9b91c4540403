import { FLACDecoder, FLACDecoderWebWorker } from '@wasm-audio-decoders/flac'
import { OggVorbisDecoder, OggVorbisDecoderWebWorker } from '@wasm-audio-decoders/ogg-vorbis'
import { createDecoder, type OpusDecoderHandle } from 'libopus-wasm'
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { MPEGDecoder, MPEGDecoderWebWorker } from 'mpg123-decoder'
import { toMono } from './pcm.ts'
import { sniff } from './sniff.ts'
import { createWavReader, createWavSamples } from './wav.ts'

/**
 * Bun's bundler drops the unused `WebWorker` classes of these packages but keeps statements that
 * use them, and the executable then fails at start with a ReferenceError. This object keeps both.
 */
const CODECS = {
  FLACDecoder,
  FLACDecoderWebWorker,
  MPEGDecoder,
  MPEGDecoderWebWorker,
  OggVorbisDecoder,
  OggVorbisDecoderWebWorker,
}

/** Consecutive samples of a recording; the rate may change where files were joined. */
export interface Block {
  readonly rate: number
  readonly samples: Float32Array
}

/**
 * Compressed bytes that are decoded at a time. A frame of silent FLAC takes 11 bytes and lasts
 * 65,535 samples, so a kilobyte gives at most 24 MB a channel.
 */
const STEP_BYTES = 1024
const WAV_STEP_BYTES = 64 * 1024
const OPUS_RATE = 48_000

/** Mono blocks of a recording, decoded as they are pulled. Throws for an unreadable recording. */
export function decodeBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  switch (sniff(bytes)?.name) {
    case 'wav':
      return wavBlocks(bytes)
    case 'mp3':
      return streamBlocks(new CODECS.MPEGDecoder(), bytes)
    case 'vorbis':
      return streamBlocks(new CODECS.OggVorbisDecoder(), bytes)
    case 'flac':
      return streamBlocks(new CODECS.FLACDecoder(), bytes)
    case 'ogg':
      throw new Error('codec not supported')
    case 'opus':
    case 'webm':
    case 'm4a':
      return opusBlocks(bytes)
    default:
      throw new Error('format not supported')
  }
}

async function* wavBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  const reader = createWavReader()
  let toSamples: ReturnType<typeof createWavSamples> | null = null
  for (let at = 0; at < bytes.length; at += WAV_STEP_BYTES) {
    const data = reader.push(bytes.subarray(at, at + WAV_STEP_BYTES))
    const format = reader.format()
    if (format === null) continue
    toSamples ??= createWavSamples(format)
    yield { rate: format.rate, samples: toSamples(data) }
  }
}

interface Decoded {
  readonly channelData: readonly Float32Array[]
  readonly samplesDecoded: number
  readonly sampleRate: number
}

interface StreamDecoder {
  readonly ready: Promise<void>
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>
  flush?(): Promise<Decoded>
  free(): void
}

async function* streamBlocks(decoder: StreamDecoder, bytes: Uint8Array): AsyncGenerator<Block> {
  await decoder.ready
  try {
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      yield* block(await decoder.decode(bytes.subarray(at, at + STEP_BYTES)))
    }
    if (decoder.flush !== undefined) yield* block(await decoder.flush())
  } finally {
    decoder.free()
  }
}

function* block(decoded: Decoded): Generator<Block> {
  if (decoded.samplesDecoded === 0 || decoded.sampleRate === 0) return
  yield { rate: decoded.sampleRate, samples: toMono(decoded.channelData) }
}

/** Opus in Ogg, WebM or MP4. */
async function* opusBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS })
  const track = await input.getPrimaryAudioTrack()
  if (track === null || (await track.getCodec()) !== 'opus') throw new Error('codec not supported')
  const channels = await track.getNumberOfChannels()
  if (channels !== 1 && channels !== 2) throw new Error('channel layout not supported')
  const decoder = await createDecoder({ channels, sampleRate: OPUS_RATE })
  try {
    for await (const packet of new EncodedPacketSink(track).packets()) {
      const samples = opusSamples(decoder, packet.data, channels)
      // Samples before time zero are the encoder's delay (pre-skip) and are not played.
      const skip = Math.min(samples.length, Math.max(0, Math.round(-packet.timestamp * OPUS_RATE)))
      yield { rate: OPUS_RATE, samples: samples.subarray(skip) }
    }
  } finally {
    decoder.free()
  }
}

function opusSamples(
  decoder: OpusDecoderHandle,
  packet: Uint8Array,
  channels: 1 | 2,
): Float32Array {
  try {
    const interleaved = decoder.decodeFloat(packet)
    if (channels === 1) return interleaved
    const mono = new Float32Array(interleaved.length / 2)
    for (let i = 0; i < mono.length; i++) {
      mono[i] = ((interleaved[2 * i] as number) + (interleaved[2 * i + 1] as number)) / 2
    }
    return mono
  } catch {
    // A damaged packet becomes a gap, and the rest of the recording is still decoded.
    return new Float32Array(0)
  }
}
