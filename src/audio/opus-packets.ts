import { Application, createDecoder, createEncoder, Signal } from 'libopus-wasm'
import {
  OPENAI_SPEECH_RATE,
  type PacketDecoder,
  RECOGNISER_RATE,
} from '../upstream/ports/speech.ts'
import type { OpusEncoder } from './opus.ts'
import { createSampleReader } from './pcm.ts'

const BITRATE = 32_000
/** Half of the library's default effort: 100 times real time, and no difference for speech. */
const COMPLEXITY = 5
/** A packet is 60 ms, the longest that small devices take. */
const FRAME_SAMPLES = (OPENAI_SPEECH_RATE * 60) / 1_000
const LENGTH_BYTES = 2

/**
 * Encodes 24 kHz mono signed 16-bit little-endian as Opus packets without a container, each after
 * its length in two bytes, big-endian.
 */
export async function createOpusPackets(): Promise<OpusEncoder> {
  const opus = await createEncoder({
    channels: 1,
    sampleRate: OPENAI_SPEECH_RATE,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: BITRATE,
    complexity: COMPLEXITY,
    frameSize: FRAME_SAMPLES,
  })
  const read = createSampleReader()
  const frame = new Int16Array(FRAME_SAMPLES)
  let filled = 0

  function packet(): Uint8Array {
    const encoded = opus.encode(frame)
    const bytes = Buffer.alloc(LENGTH_BYTES + encoded.length)
    bytes.writeUInt16BE(encoded.length)
    bytes.set(encoded, LENGTH_BYTES)
    filled = 0
    return bytes
  }

  return {
    async encode(pcm) {
      const packets: Uint8Array[] = []
      const samples = read(pcm)
      for (let at = 0; at < samples.length; ) {
        const part = samples.subarray(at, at + FRAME_SAMPLES - filled)
        frame.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === FRAME_SAMPLES) packets.push(packet())
      }
      return Buffer.concat(packets)
    },
    async finish() {
      // The encoder runs behind by its lookahead; the silence of the packet brings out the rest.
      if (filled === 0) return new Uint8Array(0)
      frame.fill(0, filled)
      return packet()
    },
    release: () => opus.free(),
  }
}

/** The longest that a packet of Opus can hold is 120 ms (RFC 6716, section 3.2.5). */
const DECODED_SAMPLES_MAX = (RECOGNISER_RATE * 120) / 1_000

export async function createPacketDecoder(): Promise<PacketDecoder> {
  const opus = await createDecoder({
    channels: 1,
    sampleRate: RECOGNISER_RATE,
    maxFrameSize: DECODED_SAMPLES_MAX,
  })
  return {
    decode(packet) {
      if (packet.length === 0) return null
      try {
        return opus.decode(packet).slice()
      } catch {
        return null
      }
    },
    release: () => opus.free(),
  }
}
