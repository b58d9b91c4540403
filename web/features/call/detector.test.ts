import { expect, test } from 'bun:test'
import { createDetector, type Heard } from './detector.ts'

const FRAME_MS = 20

/** What is heard of loudness and milliseconds after one another, with the time of each. */
function hear(...parts: readonly (readonly [level: number, ms: number, overVoice?: boolean])[]) {
  const detector = createDetector()
  const heard: [Heard, number][] = []
  let at = 0
  for (const [level, ms, overVoice = false] of parts) {
    for (let part = 0; part < ms; part += FRAME_MS) {
      at += FRAME_MS
      const what = detector.push(level, FRAME_MS, overVoice)
      if (what) heard.push([what, at])
    }
  }
  return heard
}

test('speech begins after a moment of loudness and ends after a pause', () => {
  expect(hear([0.002, 1_000], [0.1, 1_500], [0.002, 2_000])).toEqual([
    ['begins', 1_120],
    ['ends', 3_400],
  ])
})

test('a pause to think does not end it, and the soft end of a word belongs to it', () => {
  const said = [
    [0.1, 500],
    [0.002, 600],
    [0.1, 500],
    [0.009, 2_000],
  ] as const
  expect(hear(...said)).toEqual([['begins', 120]])
})

test('a click is no speech', () => {
  expect(hear([0.002, 500], [0.5, 60], [0.002, 500], [0.5, 60], [0.002, 500])).toEqual([])
})

test('a room that grows loud is learned, and speech above it is still heard', () => {
  const fan = hear([0.01, 60_000], [0.025, 1_000])
  expect(fan).toEqual([])
  expect(hear([0.01, 60_000], [0.2, 500]).map(([what]) => what)).toEqual(['begins'])
})

test('a noise without a pause is cut, and then belongs to the room', () => {
  const heard = hear([0.05, 200_000])
  expect(heard.map(([what]) => what)).toEqual(['begins', 'ends'])
})

test('its own voice in the loudspeaker does not interrupt; a person who speaks up does', () => {
  expect(hear([0.02, 5_000, true])).toEqual([])
  expect(hear([0.2, 200, true])).toEqual([])
  expect(hear([0.2, 400, true])).toEqual([['begins', 260]])
})
