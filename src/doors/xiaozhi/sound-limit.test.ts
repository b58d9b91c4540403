import { expect, test } from 'bun:test'
import { createEncoder } from 'libopus-wasm'
import { createSoundLimit, packetMs } from './sound-limit.ts'

const silk60 = (bytes: number) => new Uint8Array(bytes).fill(0b01011_000, 0, 1)

test.each([2.5, 5, 10, 20, 40, 60])('a packet tells that it holds %d ms', async (ms) => {
  for (const [sampleRate, channels] of [
    [16_000, 1],
    [48_000, 2],
  ] as const) {
    const frameSize = (sampleRate * ms) / 1_000
    const opus = await createEncoder({ channels, sampleRate, frameSize })
    const noise = Int16Array.from({ length: frameSize * channels }, (_, i) => (i * 7_919) % 9_001)
    expect(packetMs(opus.encode(noise))).toBe(ms)
    opus.free()
  }
})

test('a packet of several frames tells the sum, and a malformed one is no error', () => {
  expect(packetMs(Uint8Array.of(0b11111_011, 6))).toBe(120)
  expect(packetMs(Uint8Array.of(0b11111_011))).toBe(0)
  expect(packetMs(new Uint8Array(0))).toBe(10)
})

test('a board in real time loses nothing, also after a stall of ten seconds', () => {
  let now = 0
  const allows = createSoundLimit({ steady: () => now })
  const packet = silk60(200)
  const heard = (packets: number) =>
    Array.from({ length: packets }, () => allows(packet)).filter(Boolean).length
  for (let second = 0; second < 60; second++) {
    for (let i = 0; i < 50; i++) {
      now += 20
      if (i % 3 === 0) expect(allows(packet)).toBe(true)
    }
  }
  now += 10_000
  expect(heard(167)).toBe(167)
})

test('sound beyond one and a half times real time is dropped', () => {
  let now = 0
  const allows = createSoundLimit({ steady: () => now })
  let heard = 0
  for (let i = 0; i < 1_000; i++) {
    now += 10
    if (allows(silk60(1_500))) heard++
  }
  // Ten seconds, and the twelve that may come at once.
  expect(heard * 60).toBeLessThanOrEqual(15_000 + 12_000)
  expect(heard * 60).toBeGreaterThan(26_000)
})

test('a packet of more than 1,500 bytes is dropped', () => {
  const allows = createSoundLimit({ steady: () => 0 })
  expect([allows(silk60(1_501)), allows(silk60(1_500))]).toEqual([false, true])
})
