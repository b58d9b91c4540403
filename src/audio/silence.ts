import { timeSlice } from '../core/time-slice.ts'
import { SILENCE_RMS } from '../upstream/ports/speech.ts'
import { sniff } from './sniff.ts'
import { createWavReader, createWavSamples } from './wav.ts'

/** Windows of 20 ms, the unit of `SILENCE_RMS`. */
const WINDOWS_PER_SECOND = 50
const STEP_BYTES = 64 * 1024

/**
 * Whether a wav file is silent; null for other formats and for an unreadable wav. Stops at the
 * first loud window, so speech costs little; a silent file is read in time slices.
 */
export async function isSilent(bytes: Uint8Array, steady: () => number): Promise<boolean | null> {
  if (sniff(bytes)?.name !== 'wav') return null
  try {
    return await isSilentWav(bytes, steady)
  } catch {
    return null
  }
}

async function isSilentWav(bytes: Uint8Array, steady: () => number): Promise<boolean | null> {
  const slice = timeSlice(steady)
  const reader = createWavReader()
  let read: ReturnType<typeof createLoudness> | null = null
  let toSamples: ReturnType<typeof createWavSamples> | null = null
  let heard = 0
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (slice.isOver()) await slice.next()
    const data = reader.push(bytes.subarray(at, at + STEP_BYTES))
    const format = reader.format()
    if (format === null) continue
    toSamples ??= createWavSamples(format)
    read ??= createLoudness(Math.ceil(format.rate / WINDOWS_PER_SECOND))
    const samples = toSamples(data)
    heard += samples.length
    if (read(samples) >= SILENCE_RMS) return false
  }
  return heard === 0 ? null : true
}

/** The root mean square of the loudest complete window so far. */
function createLoudness(window: number): (samples: Float32Array) => number {
  let begun = { count: 0, sum: 0 }
  let loudest = 0
  return (samples) => {
    // Locals, because captured variables make this loop several times slower.
    let { count, sum } = begun
    let most = 0
    for (let i = 0; i < samples.length; i++) {
      sum += (samples[i] as number) * (samples[i] as number)
      if (++count < window) continue
      if (sum > most) most = sum
      count = 0
      sum = 0
    }
    begun = { count, sum }
    loudest = Math.max(loudest, Math.sqrt(most / window))
    return loudest
  }
}
