import { Application, createEncoder, Signal } from 'libopus-wasm'
import {
  EncodedAudioPacketSource,
  EncodedPacket,
  NullTarget,
  OggOutputFormat,
  Output,
} from 'mediabunny'
import { OPENAI_SPEECH_RATE } from '../upstream/ports/speech.ts'
import { createSampleReader } from './pcm.ts'

const BITRATE = 40_000
/** A packet is 20 ms. */
const FRAME_SAMPLES = OPENAI_SPEECH_RATE / 50
/** Short pages, so that the sound can be played while it is made. */
const PAGE_SECONDS = 0.2
/** Ogg counts the samples of Opus at this rate, whatever went in (RFC 7845, section 4). */
const OGG_RATE = 48_000

/** 24 kHz mono signed 16-bit little-endian in, Ogg Opus out (RFC 7845). */
export interface OpusEncoder {
  encode(pcm: Uint8Array): Promise<Uint8Array>
  /** The last packets. */
  finish(): Promise<Uint8Array>
  /** Must be called once, finished or not. */
  release(): void
}

export async function createOpusEncoder(): Promise<OpusEncoder> {
  const opus = await createEncoder({
    channels: 1,
    sampleRate: OPENAI_SPEECH_RATE,
    application: Application.Audio,
    signal: Signal.Voice,
    bitrate: BITRATE,
    frameSize: FRAME_SAMPLES,
  })
  const lookahead = opus.getLookahead()
  const ogg = await openOgg((lookahead * OGG_RATE) / OPENAI_SPEECH_RATE)
  const read = createSampleReader()
  let held = new Int16Array(0)
  let heard = 0
  let packets = 0

  /** The container marks the last packet as such, so it has to be known which one it is. */
  async function pack(samples: Int16Array, lengthOfLast: number): Promise<void> {
    for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
      const isLast = lengthOfLast > 0 && at + 2 * FRAME_SAMPLES > samples.length
      const length = isLast ? lengthOfLast : FRAME_SAMPLES
      const packet = opus.encode(samples.subarray(at, at + FRAME_SAMPLES)).slice()
      await ogg.add(packet, packets * FRAME_SAMPLES, length)
      packets += 1
    }
  }

  return {
    async encode(pcm) {
      const samples = joined(held, read(pcm))
      heard += samples.length - held.length
      const whole = samples.length - (samples.length % FRAME_SAMPLES)
      await pack(samples.subarray(0, whole), 0)
      held = samples.slice(whole)
      return ogg.take()
    },
    async finish() {
      // The encoder runs behind by its lookahead, so that much silence brings out the rest.
      const total = heard + lookahead
      const count = Math.ceil(total / FRAME_SAMPLES)
      const rest = new Int16Array((count - packets) * FRAME_SAMPLES)
      rest.set(held)
      await pack(rest, total - (count - 1) * FRAME_SAMPLES)
      await ogg.finish()
      return ogg.take()
    },
    release: () => opus.free(),
  }
}

/** Packets as Ogg pages; `preSkip` samples of 48 kHz at the start are the encoder's own. */
async function openOgg(preSkip: number) {
  let pages: Uint8Array[] = []
  const format = new OggOutputFormat({
    maximumPageDuration: PAGE_SECONDS,
    onPage: (page) => void pages.push(page.slice()),
  })
  const output = new Output({ format, target: new NullTarget() })
  const track = new EncodedAudioPacketSource('opus')
  output.addAudioTrack(track)
  await output.start()
  const decoderConfig = {
    codec: 'opus',
    numberOfChannels: 1,
    sampleRate: OGG_RATE,
    description: opusHead(preSkip),
  }
  return {
    async add(packet: Uint8Array, start: number, samples: number): Promise<void> {
      const [at, seconds] = [start / OPENAI_SPEECH_RATE, samples / OPENAI_SPEECH_RATE]
      await track.add(new EncodedPacket(packet, 'key', at, seconds), { decoderConfig })
    },
    finish: () => output.finalize(),
    /** The pages since the last call. */
    take(): Uint8Array {
      const taken = Buffer.concat(pages)
      pages = []
      return taken
    },
  }
}

/** The identification header of Ogg Opus (RFC 7845, section 5.1). */
function opusHead(preSkip: number): Uint8Array {
  const head = Buffer.alloc(19)
  head.write('OpusHead', 0, 'latin1')
  head.writeUInt8(1, 8)
  head.writeUInt8(1, 9)
  head.writeUInt16LE(preSkip, 10)
  head.writeUInt32LE(OPENAI_SPEECH_RATE, 12)
  return head
}

function joined(a: Int16Array, b: Int16Array): Int16Array {
  const both = new Int16Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
