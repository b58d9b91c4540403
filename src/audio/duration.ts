import { ALL_FORMATS, BufferSource, Input } from 'mediabunny'
import { sniff } from './sniff.ts'
import { createWavReader } from './wav.ts'

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
