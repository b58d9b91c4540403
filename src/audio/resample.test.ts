import { describe, expect, test } from 'bun:test'
import { createFloatResampler, createResamplerFactory } from './resample.ts'

const createResampler = createResamplerFactory()

const tone = (rate: number, hertz: number, seconds: number) =>
  Float32Array.from(
    { length: Math.round(rate * seconds) },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate),
  )

function whole(from: number, to: number, input: Float32Array): Float32Array {
  const resampler = createFloatResampler(from, to)
  return Float32Array.from([...resampler.push(input), ...resampler.flush()])
}

/** Decibels of the ideal tone over the deviation from it, away from the cut edges. */
function cleanness(output: Float32Array, rate: number, hertz: number): number {
  let [signal, noise] = [0, 0]
  for (let i = 500; i < output.length - 500; i++) {
    const ideal = 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate)
    signal += ideal * ideal
    noise += ((output[i] ?? 0) - ideal) ** 2
  }
  return 10 * Math.log10(signal / noise)
}

const RATES = [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 44_101, 96_000]

describe.each([32_000, 16_000])('to %d Hz', (to) => {
  test.each(RATES)('resampling from %d Hz keeps a tone clean and the length exact', (from) => {
    const output = whole(from, to, tone(from, 1_000, 0.5))
    expect(output.length).toBe(Math.ceil((Math.round(from * 0.5) * to) / from))
    expect(cleanness(output, to, 1_000)).toBeGreaterThan(48)
  })
})

test('sound above the lower Nyquist frequency is removed instead of folded back', () => {
  const output = whole(48_000, 16_000, tone(48_000, 10_000, 0.5))
  expect(Math.max(...output.subarray(500, -500))).toBeLessThan(0.002)
})

test('resampling gives the same bytes for any split of its input', () => {
  const samples = Int16Array.from(tone(24_000, 440, 0.3), (value) => Math.round(value * 32_767))
  const input = new Uint8Array(samples.buffer)
  const run = (sizes: readonly number[]) => {
    const resampler = createResampler(24_000, 32_000)
    const parts: Uint8Array[] = []
    for (let at = 0, i = 0; at < input.length; i++) {
      const size = sizes[i % sizes.length] ?? 1
      parts.push(resampler.push(input.subarray(at, at + size)))
      at += size
    }
    parts.push(resampler.flush())
    return Buffer.concat(parts)
  }
  const expected = run([input.length])
  expect(expected.length).toBe(9_600 * 2)
  for (const sizes of [[1], [3, 1, 0, 2], [4_097], [1_001, 7]]) expect(run(sizes)).toEqual(expected)
})

test('resampling to the same rate passes every whole sample through', () => {
  const resampler = createResampler(32_000, 32_000)
  const parts = [resampler.push(Uint8Array.of(1, 2, 3)), resampler.push(Uint8Array.of(4, 5))]
  expect(Buffer.concat([...parts, resampler.flush()])).toEqual(Buffer.from([1, 2, 3, 4]))
})

test('concurrent resamplers share filters and nothing else', () => {
  const sound = (hertz: number) => {
    return new Uint8Array(
      Int16Array.from(tone(22_050, hertz, 0.1), (value) => Math.round(value * 32_767)).buffer,
    )
  }
  const alone = (input: Uint8Array) => {
    const resampler = createResamplerFactory()(22_050, 32_000)
    return Buffer.concat([resampler.push(input), resampler.flush()])
  }
  const [low, high] = [sound(300), sound(3_000)]
  const [a, b] = [createResampler(22_050, 32_000), createResampler(22_050, 32_000)]
  const [firstA, firstB] = [a.push(low), b.push(high)]
  // Other rates come in between, more of them than filters are kept.
  for (const rate of RATES) createResampler(rate, 32_000).flush()
  expect(Buffer.concat([firstA, a.flush()])).toEqual(alone(low))
  expect(Buffer.concat([firstB, b.flush()])).toEqual(alone(high))
})
