import { ALL_FORMATS, BufferSource, Input } from 'mediabunny'
import { AUDIO_SECONDS_MAX } from '../core/limits/machine.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import { type Block, decodeBlocks } from './decode-blocks.ts'
import { toBytes } from './pcm.ts'
import { createFloatResampler } from './resample.ts'
import { sniff } from './sniff.ts'
import { createWavReader, RATE_MAX, RATE_MIN } from './wav.ts'

/** Samples of one chunk: one second for a recogniser, and small enough for one message. */
const CHUNK_SAMPLES = 16_000
const CHUNK_BYTES = CHUNK_SAMPLES * 2

/**
 * Decodes any recording that `decodeBlocks` reads to signed 16-bit mono at `rate`. Throws
 * `ParseFailure` beyond the duration limit, and an error for a recording without a sample.
 */
export async function* decodePcm(bytes: Uint8Array, rate: number): AsyncGenerator<Uint8Array> {
  const converter = createConverter(rate)
  let pending: Float32Array[] = []
  let count = 0
  for await (const block of decodeBlocks(bytes)) {
    for (const samples of converter.push(block)) {
      pending.push(samples)
      count += samples.length
    }
    if (count < CHUNK_SAMPLES) continue
    yield* chunks(toBytes(concat(pending, count)))
    pending = []
    count = 0
  }
  const last = converter.flush()
  yield* chunks(toBytes(concat([...pending, last], count + last.length)))
}

/** Copies, because a structured clone of a view includes its whole buffer. */
function* chunks(pcm: Uint8Array): Generator<Uint8Array> {
  if (pcm.length <= CHUNK_BYTES) yield pcm
  else for (let at = 0; at < pcm.length; at += CHUNK_BYTES) yield pcm.slice(at, at + CHUNK_BYTES)
}

/** Follows rate changes inside a recording and counts its seconds. */
function createConverter(rate: number) {
  let from = 0
  let seconds = 0
  let resampler = createFloatResampler(rate, rate)
  return {
    push(block: Block): readonly Float32Array[] {
      if (block.rate < RATE_MIN || block.rate > RATE_MAX) throw new Error('rate out of range')
      seconds += block.samples.length / block.rate
      if (seconds > AUDIO_SECONDS_MAX) throw new ParseFailure('too_long')
      if (from === block.rate) return [resampler.push(block.samples)]
      const tail = resampler.flush()
      from = block.rate
      resampler = createFloatResampler(from, rate)
      return [tail, resampler.push(block.samples)]
    },
    flush(): Float32Array {
      if (seconds === 0) throw new Error('no sound in the recording')
      return resampler.flush()
    },
  }
}

function concat(parts: readonly Float32Array[], length: number): Float32Array {
  const joined = new Float32Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/**
 * The seconds of a recording, without decoding it. Throws for one whose container cannot be read.
 * The headers of wav files that were streamed do not tell their length, so their samples are
 * counted.
 */
export async function durationOf(bytes: Uint8Array): Promise<number> {
  if (sniff(bytes)?.name === 'wav') return wavDuration(bytes)
  return await new Input({
    source: new BufferSource(bytes),
    formats: ALL_FORMATS,
  }).computeDuration()
}

function wavDuration(bytes: Uint8Array): number {
  const reader = createWavReader()
  const sound = reader.push(bytes)
  const format = reader.format()
  if (format === null) throw new Error('wav without sound')
  return sound.length / (format.rate * format.channels * (format.bits / 8))
}
