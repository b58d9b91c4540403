import { createEncoder as createOpus } from 'libopus-wasm'
import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny'
import { createMp3Encoder, createOggEncoder } from 'wasm-media-encoders'

/** Recordings in every container and codec, encoded without the product's decoders. */
export function tone(rate: number, seconds: number, hertz = 440, gain = 0.5): Float32Array {
  return Float32Array.from(
    { length: Math.round(rate * seconds) },
    (_, i) => gain * Math.sin((2 * Math.PI * hertz * i) / rate),
  )
}

export function pcm16(samples: Float32Array): Uint8Array {
  return new Uint8Array(Int16Array.from(samples, (v) => Math.round(v * 32_767)).buffer)
}

export interface WavOptions {
  readonly bits?: 8 | 16 | 24 | 32
  readonly float?: boolean
  readonly channels?: number
  /** Written in place of the true size, as streaming servers do. */
  readonly dataSize?: number
  /** Adds a chunk between format and data. */
  readonly extra?: boolean
  readonly extensible?: boolean
}

export function wav(rate: number, samples: Float32Array, options: WavOptions = {}): Uint8Array {
  const { bits = 16, float = false, channels = 1, extra = false, extensible = false } = options
  const bytes = bits / 8
  const data = Buffer.alloc(samples.length * channels * bytes)
  samples.forEach((value, i) => {
    for (let c = 0; c < channels; c++) write(data, (i * channels + c) * bytes, value, bits, float)
  })
  const format = Buffer.alloc(extensible ? 40 : 16)
  format.writeUInt16LE(extensible ? 0xfffe : float ? 3 : 1, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(rate, 4)
  format.writeUInt32LE(rate * channels * bytes, 8)
  format.writeUInt16LE(channels * bytes, 12)
  format.writeUInt16LE(bits, 14)
  if (extensible) format.writeUInt16LE(float ? 3 : 1, 24)
  const parts = [chunk('fmt ', format), ...(extra ? [chunk('LIST', Buffer.from('INFOx'))] : [])]
  parts.push(chunk('data', data, options.dataSize))
  const body = Buffer.concat([Buffer.from('WAVE'), ...parts])
  return new Uint8Array(chunk('RIFF', body, options.dataSize))
}

function write(data: Buffer, at: number, value: number, bits: number, float: boolean): void {
  if (float) data.writeFloatLE(value, at)
  else if (bits === 8) data.writeUInt8(Math.round(value * 127) + 128, at)
  else data.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), at, bits / 8)
}

function chunk(id: string, body: Buffer, size = body.length): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 0, 'latin1')
  head.writeUInt32LE(size, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)])
}

export async function mp3(rate: number, samples: Float32Array, channels: 1 | 2 = 1) {
  return encoded(await createMp3Encoder(), rate, samples, channels)
}

export async function vorbis(rate: number, samples: Float32Array, channels: 1 | 2 = 1) {
  return encoded(await createOggEncoder(), rate, samples, channels)
}

interface MediaEncoder {
  configure(params: { channels: 1 | 2; sampleRate: number }): void
  encode(samples: readonly Float32Array[]): Uint8Array
  finalize(): Uint8Array
}

function encoded(
  encoder: MediaEncoder,
  rate: number,
  samples: Float32Array,
  channels: 1 | 2,
): Uint8Array {
  encoder.configure({ channels, sampleRate: rate })
  const parts: Uint8Array[] = []
  for (let at = 0; at < samples.length; at += 8_192) {
    const part = samples.subarray(at, at + 8_192)
    parts.push(encoder.encode(channels === 2 ? [part, part] : [part]).slice())
  }
  parts.push(encoder.finalize().slice())
  return new Uint8Array(Buffer.concat(parts))
}

const CONTAINERS = {
  ogg: () => new OggOutputFormat(),
  webm: () => new WebMOutputFormat(),
  m4a: () => new Mp4OutputFormat(),
}

/** Opus packets of 20 ms in a container. `samples` at 48 kHz. */
export async function opus(
  container: keyof typeof CONTAINERS,
  samples: Float32Array,
  channels: 1 | 2 = 1,
): Promise<Uint8Array> {
  const encoder = await createOpus({ channels, sampleRate: 48_000, bitrate: 32_000 })
  const target = new BufferTarget()
  const output = new Output({
    format: CONTAINERS[container](),
    target,
  })
  const source = new EncodedAudioPacketSource('opus')
  output.addAudioTrack(source)
  await output.start()
  const description = opusHead(channels)
  const config = { codec: 'opus', numberOfChannels: channels, sampleRate: 48_000, description }
  for (let at = 0, i = 0; at < samples.length; at += 960, i++) {
    const frame = new Float32Array(960 * channels)
    const part = samples.subarray(at, at + 960)
    for (let k = 0; k < frame.length; k++) frame[k] = part[Math.floor(k / channels)] ?? 0
    const packet = new EncodedPacket(encoder.encodeFloat(frame).slice(), 'key', i * 0.02, 0.02)
    await source.add(packet, { decoderConfig: config })
  }
  await output.finalize()
  encoder.free()
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0))
}

/** The identification header of RFC 7845, section 5.1, with the usual run-in of 312 samples. */
function opusHead(channels: number): Uint8Array {
  const head = Buffer.alloc(19)
  head.write('OpusHead', 0, 'latin1')
  head.writeUInt8(1, 8)
  head.writeUInt8(channels, 9)
  head.writeUInt16LE(312, 10)
  head.writeUInt32LE(48_000, 12)
  return head
}
