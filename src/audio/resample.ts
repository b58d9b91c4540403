import { createSampleReader, toBytes, toFloats } from './pcm.ts'

/** Zero crossings on each side of the filter; 16 keep speech 48 to 60 dB clean. */
const ZEROS = 16
/** Shape of the Kaiser window: about 80 dB of stop-band attenuation. */
const BETA = 8
/** Leaves room for the transition band below the lower Nyquist frequency. */
const ROLLOFF = 0.94
/** Rates without a small common ratio share the nearest of this many filter phases. */
const PHASES_MAX = 1024

/** Filters that are kept; computing one takes about 10 ms for rates such as 22,050. */
const FILTERS_MAX = 8

/** Both ends are signed 16-bit little-endian mono bytes; a chunk may split a sample. */
export interface Resampler {
  push(pcm: Uint8Array): Uint8Array
  /** The samples still held back by the filter. The resampler is spent afterwards. */
  flush(): Uint8Array
}

interface Filter {
  /** Half the number of taps. */
  readonly half: number
  /** The taps of each phase. */
  readonly table: Float32Array
}

type MakeFilter = (ratio: number, phases: number) => Filter

export interface FloatResampler {
  push(samples: Float32Array): Float32Array
  flush(): Float32Array
}

/**
 * A polyphase windowed-sinc resampler that keeps its state between chunks: any split of the input
 * gives the same samples. Output sample k stands at input time k * from / to, so nothing is
 * delayed, and n samples become ceil(n * to / from).
 */
export function createFloatResampler(
  from: number,
  to: number,
  filterFor: MakeFilter = design,
): FloatResampler {
  if (from === to) return { push: (samples) => samples, flush: () => new Float32Array(0) }
  const divisor = greatestCommonDivisor(from, to)
  const [up, down] = [to / divisor, from / divisor]
  const phases = Math.min(up, PHASES_MAX)
  const { half, table } = filterFor(Math.min(1, up / down), phases)
  const taps = half * 2
  // The window of input sample i is i - half + 1 to i + half; before the sound is silence.
  let held = new Float32Array(half - 1)
  let remainder = 0

  const push = (samples: Float32Array): Float32Array => {
    const joined = new Float32Array(held.length + samples.length)
    joined.set(held)
    joined.set(samples, held.length)
    const limit = joined.length - taps + 1
    const out = new Float32Array(Math.max(0, Math.ceil((limit * up - remainder) / down)))
    // Locals, because captured variables make this loop slower.
    let [start, rest] = [0, remainder]
    for (let count = 0; start < limit; count++) {
      const phase = phases === up ? rest : Math.floor((rest * phases) / up)
      let sum = 0
      for (let i = 0, row = phase * taps; i < taps; i++) {
        sum += (joined[start + i] as number) * (table[row + i] as number)
      }
      out[count] = sum
      rest += down
      start += Math.floor(rest / up)
      rest %= up
    }
    remainder = rest
    held = joined.slice(start)
    return out
  }
  return { push, flush: () => push(new Float32Array(half)) }
}

/**
 * Resamplers of signed 16-bit little-endian bytes; an odd byte waits for the next chunk. Sounds of
 * the same rate share one filter.
 */
export function createResamplerFactory(): (from: number, to: number) => Resampler {
  const filters = new Map<string, Filter>()
  const filterFor: MakeFilter = (ratio, phases) => {
    const name = `${ratio} ${phases}`
    const filter = filters.get(name) ?? design(ratio, phases)
    // Upstreams choose the rate, so the number of filters is bounded.
    if (filters.size >= FILTERS_MAX) filters.clear()
    filters.set(name, filter)
    return filter
  }
  return (from, to) => bytesResampler(from, to, filterFor)
}

function bytesResampler(from: number, to: number, filterFor: MakeFilter): Resampler {
  const read = createSampleReader()
  const resampler = createFloatResampler(from, to, filterFor)
  return {
    push(pcm) {
      const samples = read(pcm)
      if (from === to) return new Uint8Array(samples.buffer)
      return toBytes(resampler.push(toFloats(samples)))
    },
    flush: () => toBytes(resampler.flush()),
  }
}

/** One row of taps for each phase, each row with a gain of 1 for a constant signal. */
function design(ratio: number, phases: number): Filter {
  const half = Math.ceil(ZEROS / ratio)
  const cutoff = ratio * ROLLOFF
  const taps = half * 2
  const table = new Float32Array(phases * taps)
  for (let phase = 0; phase < phases; phase++) {
    const row = table.subarray(phase * taps, (phase + 1) * taps)
    let gain = 0
    for (let i = 0; i < taps; i++) {
      const distance = phase / phases + half - 1 - i
      const value = sinc(cutoff * distance) * kaiser(distance / half)
      row[i] = value
      gain += value
    }
    for (let i = 0; i < taps; i++) row[i] = (row[i] as number) / gain
  }
  return { half, table }
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA)
}

/** The modified Bessel function of the first kind and order zero, by its power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1]
  for (let k = 1; term > sum * 1e-9; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
