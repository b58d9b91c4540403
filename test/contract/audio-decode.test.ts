import { describe, expect, spyOn, test } from 'bun:test'
import { decodeBlocks } from '../../src/audio/decode-blocks.ts'
import { flac, silentFlac } from '../support/flac.ts'
import { mp3, opus, pcm16, tone, vorbis, wav } from '../support/recordings.ts'
import { codecs } from '../support/speech-codecs.ts'

const decode = (bytes: Uint8Array, rate: number, signal: AbortSignal) =>
  codecs.decode({ bytes, tenantId: 't' }, rate, signal)

async function read(bytes: Uint8Array, rate = 16_000): Promise<Int16Array> {
  const parts: Uint8Array[] = []
  for await (const part of decode(bytes, rate, new AbortController().signal)) parts.push(part)
  return new Int16Array(new Uint8Array(Buffer.concat(parts)).buffer)
}

/** How often the signal rises through zero in a second: the pitch of a tone. */
function pitch(samples: Int16Array, rate: number): number {
  const middle = samples.subarray(rate / 4, rate / 4 + rate)
  let crossings = 0
  for (let i = 1; i < middle.length; i++) {
    if ((middle[i - 1] ?? 0) < 0 && (middle[i] ?? 0) >= 0) crossings++
  }
  return crossings
}

const SECONDS = 2
const CASES: readonly (readonly [string, () => Uint8Array | Promise<Uint8Array>, number])[] = [
  ['wav 16 bit', () => wav(16_000, tone(16_000, SECONDS)), 0],
  ['wav 8 bit', () => wav(8_000, tone(8_000, SECONDS), { bits: 8 }), 0],
  ['wav 24 bit stereo', () => wav(48_000, tone(48_000, SECONDS), { bits: 24, channels: 2 }), 0],
  ['wav 32 bit float', () => wav(44_100, tone(44_100, SECONDS), { bits: 32, float: true }), 0],
  ['wav extensible', () => wav(22_050, tone(22_050, SECONDS), { extensible: true }), 0],
  ['wav of unknown length', () => wav(24_000, tone(24_000, SECONDS), { dataSize: 0xffffffff }), 0],
  ['wav of length 0', () => wav(24_000, tone(24_000, SECONDS), { dataSize: 0 }), 0],
  ['wav with a chunk between', () => wav(24_000, tone(24_000, SECONDS), { extra: true }), 0],
  ['mp3', () => mp3(44_100, tone(44_100, SECONDS)), 3_000],
  ['mp3 stereo', () => mp3(32_000, tone(32_000, SECONDS), 2), 3_000],
  ['flac', () => flac(tone(48_000, SECONDS)), 0],
  ['ogg vorbis', () => vorbis(48_000, tone(48_000, SECONDS)), 0],
  ['ogg vorbis stereo', () => vorbis(44_100, tone(44_100, SECONDS), 2), 0],
  ['ogg opus', () => opus('ogg', tone(48_000, SECONDS)), 400],
  ['ogg opus stereo', () => opus('ogg', tone(48_000, SECONDS), 2), 400],
  ['webm opus', () => opus('webm', tone(48_000, SECONDS)), 400],
]

describe.each(CASES)('%s', (_name, make, slack) => {
  test('a recording keeps its pitch, loudness and length at 16 kHz mono', async () => {
    const samples = await read(await make())
    expect(Math.abs(samples.length - SECONDS * 16_000)).toBeLessThanOrEqual(slack)
    expect(pitch(samples, 16_000)).toBeWithin(439, 442)
    expect(Math.max(...samples.subarray(8_000, 24_000))).toBeWithin(14_500, 18_500)
  })
})

const hours = (seconds: number, block?: number) => silentFlac(seconds, block)

test.each([
  ['text', new TextEncoder().encode('这不是声音，只是一段文字。'.repeat(50))],
  ['noise', Uint8Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 251)],
  [
    'mp3 magic before noise',
    Uint8Array.from({ length: 50_000 }, (_, i) => [0xff, 0xfb][i] ?? (i * 31) % 255),
  ],
  ['flac magic before noise', Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(5_000, 7)])],
  ['ogg magic before noise', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(5_000, 7)])],
  [
    'webm magic before noise',
    Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), Buffer.alloc(5_000, 7)]),
  ],
  [
    'm4a magic before noise',
    Buffer.concat([Buffer.from('\0\0\0\x20ftypM4A '), Buffer.alloc(5_000)]),
  ],
  ['wav header alone', wav(16_000, new Float32Array(0))],
  ['wav cut inside its header', wav(16_000, tone(16_000, 1)).subarray(0, 30)],
  ['wav of rate 1', wav(1, tone(16_000, 1))],
  ['wav of 1,000 channels', wav(16_000, new Float32Array(2), { channels: 1_000 })],
])('a recording of %s is unreadable, not a crash', async (_name, bytes) => {
  await expect(read(new Uint8Array(bytes))).rejects.toMatchObject({
    name: 'ChannelFailure',
    reason: 'provider_error',
  })
})

describe('recordings made to explode', () => {
  test.each([
    ['an hour of silent flac', () => hours(3_600)],
    ['38 hours in the largest frames', () => hours(38 * 3_600, 65_535)],
  ])(
    '%s is refused after 15 minutes of sound, within bounded memory',
    async (_name, make) => {
      const bytes = make()
      let peak = 0
      let seconds = 0
      const before = process.memoryUsage().rss
      const run = async () => {
        for await (const part of decode(bytes, 16_000, new AbortController().signal)) {
          seconds += part.length / 2 / 16_000
          peak = Math.max(peak, process.memoryUsage().rss)
        }
      }
      await expect(run()).rejects.toMatchObject({ status: 413 })
      expect(seconds).toBeGreaterThan(1)
      expect(peak - before).toBeLessThan(400 * 1024 * 1024)
    },
    60_000,
  )

  test('a recording of exactly fifteen minutes is decoded', async () => {
    expect((await read(hours(895))).length).toBeGreaterThan(890 * 16_000)
  }, 60_000)
})

test('an abort ends the decoding', async () => {
  const controller = new AbortController()
  const run = async () => {
    for await (const _ of decode(hours(800), 16_000, controller.signal)) {
      controller.abort(new Error('left'))
    }
  }
  await expect(run()).rejects.toThrow('left')
})

test('recordings wait for a free decoder, and an aborted one leaves the queue', async () => {
  const bytes = wav(16_000, tone(16_000, 1))
  const gone = new AbortController()
  const runs = Array.from({ length: 9 }, () => read(bytes))
  const waiting = decode(bytes, 16_000, gone.signal).next()
  gone.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  for (const samples of await Promise.all(runs)) expect(samples.length).toBe(16_000)
})

test('a 16-bit wav at the wanted rate comes back byte for byte', async () => {
  const samples = tone(16_000, 1)
  expect(new Uint8Array((await read(wav(16_000, samples))).buffer)).toEqual(pcm16(samples))
})

test('the decoder of a recording that nobody hears to its end is given back', async () => {
  const begun = async (bytes: Uint8Array) => {
    for await (const _ of decodeBlocks(bytes)) return
  }
  // All decoders of Opus share one memory, which only grows.
  const recording = await opus('ogg', tone(48_000, 0.2), 2)
  await begun(recording)
  const grow = spyOn(WebAssembly.Memory.prototype, 'grow')
  for (let i = 0; i < 1_000; i++) await begun(recording)
  expect(grow).toHaveBeenCalledTimes(0)
  grow.mockRestore()
})
