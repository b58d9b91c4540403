import { describe, expect, test } from 'bun:test'
import { flac } from '../support/flac.ts'
import { mp3, pcm16, tone, wav } from '../support/recordings.ts'
import { codecs } from '../support/speech-codecs.ts'

const signal = new AbortController().signal

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array, type: string, size = 1_001) {
  const stream = await codecs.readSpeech(
    { body: pieces(bytes, size), contentType: type, fallbackRate: 24_000, tenantId: 't' },
    signal,
  )
  const parts: Uint8Array[] = []
  for await (const part of stream.chunks) parts.push(part)
  return { rate: stream.rate, pcm: Buffer.concat(parts) }
}

const sound = tone(22_050, 0.5)

test.each([
  ['audio/pcm;rate=22050', 22_050],
  ['audio/L16; rate="16000"; channels=1', 16_000],
  ['audio/pcm', 24_000],
  ['application/octet-stream', 24_000],
  ['', 24_000],
])('raw samples of type "%s" have rate %d and lose no byte', async (type, rate) => {
  const pcm = pcm16(sound)
  for (const size of [1, 4_097, pcm.length]) {
    expect(await read(pcm, type, size)).toEqual({ rate, pcm: Buffer.from(pcm) })
  }
})

test.each(['audio/wav', 'audio/pcm;rate=8000', ''])(
  'the header of a wav wins over "%s"',
  async (type) => {
    for (const size of [1, 45, 100_000]) {
      const heard = await read(wav(22_050, sound, { dataSize: 0xffffffff }), type, size)
      expect(heard).toEqual({ rate: 22_050, pcm: Buffer.from(pcm16(sound)) })
    }
  },
)

test('a chunk behind the samples of a wav is not played', async () => {
  const bytes = Buffer.concat([wav(22_050, sound), Buffer.from('LIST\x04\0\0\0abcd')])
  expect((await read(bytes, 'audio/wav')).pcm.length).toBe(sound.length * 2)
})

describe.each([
  ['mp3', 'audio/mpeg', () => mp3(44_100, tone(44_100, 1)), 3_000],
  [
    'mp3 called octet-stream',
    'application/octet-stream',
    () => mp3(24_000, tone(24_000, 1)),
    5_000,
  ],
  ['flac called pcm', 'audio/pcm', () => flac(tone(48_000, 1)), 0],
])('%s although pcm was asked for', (_name, type, make, slack) => {
  test('encoded speech is decoded to 32 kHz although pcm was asked for', async () => {
    const { rate, pcm } = await read(await make(), type)
    expect(rate).toBe(32_000)
    expect(Math.abs(pcm.length / 2 - 32_000)).toBeLessThanOrEqual(slack)
  })
})

test('raw samples that begin like an mp3 frame are still samples', async () => {
  const pcm = pcm16(sound)
  pcm.set([0xff, 0xfb, 0x90, 0x00])
  expect((await read(pcm, 'audio/pcm')).pcm).toEqual(Buffer.from(pcm))
})

test.each([
  ['nothing', new Uint8Array(0), 'audio/pcm'],
  ['an error in json', Buffer.from('{"error":"no"}'), 'application/json; charset=utf-8'],
  ['a page', Buffer.from('<html>'), 'text/html'],
  ['a wav header alone', wav(24_000, sound).subarray(0, 20), 'audio/wav'],
  ['mp3 in name only', Buffer.from('x'.repeat(5_000)), 'audio/mpeg'],
  ['an impossible rate', pcm16(sound), 'audio/pcm;rate=1'],
])('speech of %s is a failure', async (_name, bytes, type) => {
  await expect(read(new Uint8Array(bytes), type)).rejects.toMatchObject({ name: 'ChannelFailure' })
})
