import { expect, test } from 'bun:test'
import { mp3, tone, wav } from '../../test/support/recordings.ts'
import { isSilent } from './silence.ts'

const steady = () => performance.now()
const noise = (gain: number) =>
  Float32Array.from({ length: 32_000 }, (_, i) => gain * (((i * 7919) % 2_001) / 1_000 - 1))
const word = new Float32Array(160_000)
word.set(tone(16_000, 0.2, 200, 0.05), 120_000)

test.each([
  ['digital silence', wav(16_000, new Float32Array(16_000)), true],
  ['the hiss of a microphone', wav(16_000, noise(0.003)), true],
  [
    'a click',
    wav(
      16_000,
      Float32Array.from({ length: 16_000 }, (_, i) => (i === 99 ? 0.03 : 0)),
    ),
    true,
  ],
  ['a quiet tone', wav(16_000, tone(16_000, 1, 200, 0.02)), false],
  ['one short word in ten seconds', wav(16_000, word), false],
  [
    'silence in 24 bit stereo',
    wav(48_000, new Float32Array(9_600), { bits: 24, channels: 2 }),
    true,
  ],
  ['a wav without samples', wav(16_000, new Float32Array(0)), null],
  ['a broken header', wav(16_000, new Float32Array(99)).subarray(0, 30), null],
  ['text', Buffer.from('RIFFabcdWAVE and nothing more'), null],
])('silence is detected in %s', async (_name, bytes, expected) => {
  expect(await isSilent(bytes, steady)).toBe(expected)
})

test('compressed audio is not decoded to detect silence', async () => {
  expect(await isSilent(await mp3(16_000, new Float32Array(16_000)), steady)).toBeNull()
})
