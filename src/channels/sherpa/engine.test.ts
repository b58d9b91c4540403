import { expect, test } from 'bun:test'
import { RECOGNISER_RATE } from '../../upstream/ports/speech.ts'
import { openEngine, type SherpaAddon } from './engine.ts'
import type { VoicePack } from './find.ts'

const pack = { model: { config: {}, tokens: '' }, vad: null } as unknown as VoicePack

/** The addon without its model: it says the texts in turn, one a piece. */
function engineSaying(...texts: string[]) {
  const addon = {
    createOfflineRecognizer: () => ({}),
    createOfflineStream: () => ({}),
    acceptWaveformOffline() {},
    decodeOfflineStreamAsync: async () => JSON.stringify({ text: texts.shift() ?? '' }),
  }
  return openEngine(addon as unknown as SherpaAddon, pack)
}

/** Seconds that are loud, each followed by seconds of silence. */
function recording(...spans: (readonly [loud: number, silent: number])[]): Int16Array {
  const samples = spans.flatMap(([loud, silent]) => [
    ...new Array(loud * RECOGNISER_RATE).fill(8_000),
    ...new Array(silent * RECOGNISER_RATE).fill(0),
  ])
  return Int16Array.from(samples)
}

test('the recogniser engine gives the times of each part of a recording', async () => {
  const engine = engineSaying(' 你好。', ' ', '再见。 ')
  const sound = recording([1, 3], [1, 3], [2, 1])
  expect(await engine.transcribe(sound, () => false)).toEqual({
    text: '你好。再见。',
    segments: [
      { start: 0, end: 1.2, text: '你好。' },
      { start: 7.8, end: 10.2, text: '再见。' },
    ],
  })
})

test('the engine says nothing of silence, and of a recording that is given up', async () => {
  const nothing = { text: '', segments: [] }
  const engine = engineSaying('x')
  expect(await engine.transcribe(recording([0, 2]), () => false)).toEqual(nothing)
  expect(await engine.transcribe(recording([1, 1]), () => true)).toEqual(nothing)
})
