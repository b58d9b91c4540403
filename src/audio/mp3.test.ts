import { expect, test } from 'bun:test'
import { mp3Frames } from '../../test/support/mp3-frames.ts'
import { createMp3Factory } from './mp3.ts'

const create = createMp3Factory()

function tone(seconds: number): Uint8Array {
  const samples = Int16Array.from({ length: seconds * 32_000 }, (_, i) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * 440 * i) / 32_000)),
  )
  return new Uint8Array(samples.buffer)
}

async function encode(pcm: Uint8Array, size: number) {
  const encoder = await create()
  const parts: Uint8Array[] = []
  for (let at = 0; at < pcm.length; at += size) {
    parts.push(encoder.encode(pcm.subarray(at, at + size)))
  }
  parts.push(encoder.finish())
  encoder.release()
  return Buffer.concat(parts)
}

test('every mp3 frame is 32 kHz, 128 kbps, mono, and the duration is kept', async () => {
  const frames = mp3Frames(await encode(tone(2), 1 << 20))
  for (const frame of frames)
    expect(frame).toEqual({ rate: 32_000, kbps: 128, channels: 1, samples: 1152 })
  // LAME adds its own delay and padding: at most three frames.
  expect(frames.length).toBeGreaterThanOrEqual(Math.ceil(64_000 / 1152))
  expect(frames.length).toBeLessThanOrEqual(Math.ceil(64_000 / 1152) + 3)
})

test('chunk borders, odd ones too, do not change the mp3', async () => {
  const pcm = tone(1)
  const expected = await encode(pcm, pcm.length)
  for (const size of [999, 4_097]) expect(await encode(pcm, size)).toEqual(expected)
})

test('a released mp3 encoder starts its next file from a clean state', async () => {
  const first = await encode(tone(1), 5_000)
  expect(await encode(tone(1), 5_000)).toEqual(first)
})

test('mp3 encoders that are open at the same time do not mix', async () => {
  const [loud, quiet] = [await create(), await create()]
  const pcm = tone(1)
  const parts = [loud.encode(pcm)]
  quiet.encode(new Uint8Array(pcm.length))
  quiet.release()
  parts.push(loud.finish())
  loud.release()
  expect(Buffer.concat(parts)).toEqual(await encode(pcm, pcm.length))
})
