import { describe, expect, test } from 'bun:test'
import { joinTexts, loudSpans, PIECE_SAMPLES_MAX, type Span, toPieces } from './segments.ts'

const RATE = 16_000
const LOUD = 3_000
/** 10 dB below what counts as sound. */
const HISS = 30

/** Sound of the given levels, in seconds. */
function sound(...parts: readonly (readonly [seconds: number, level: number])[]): Int16Array {
  const levels = parts.flatMap(([seconds, level]) => new Array(seconds * RATE).fill(level))
  return Int16Array.from(levels, (level, i) => (i % 2 === 0 ? level : -level))
}

const inSeconds = (spans: readonly Span[]) =>
  spans.map(({ start, end }) => [start / RATE, end / RATE])

describe('where something can be heard', () => {
  test('hiss and silence have no segment', () => {
    expect(loudSpans(new Int16Array(0))).toEqual([])
    expect(loudSpans(sound([2, 0], [1, HISS]))).toEqual([])
  })

  test('a short pause belongs to a segment, a long one does not', () => {
    const samples = sound([1, 0], [1, LOUD], [0.3, 0], [1, LOUD], [1, HISS], [1, LOUD])
    expect(inSeconds(loudSpans(samples))).toEqual([
      [1, 3.3],
      [4.3, 5.3],
    ])
  })

  test('the last segment may be shorter than a window', () => {
    expect(loudSpans(new Int16Array(7).fill(LOUD))).toEqual([{ start: 0, end: 7 }])
  })
})

describe('pieces for the model', () => {
  const pieces = (samples: Int16Array) => toPieces(loudSpans(samples), samples)

  test('segments have a margin, and close ones are joined', () => {
    const samples = sound([1, 0], [1, LOUD], [1, 0], [1, LOUD], [3, 0], [1, LOUD])
    expect(inSeconds(pieces(samples))).toEqual([
      [0.8, 4.2],
      [6.8, 8],
    ])
  })

  test('segments have a longest length, lose nothing, and are cut where it is quiet', () => {
    const samples = sound([24, LOUD], [0.2, HISS], [50, LOUD], [0.2, HISS], [10, LOUD])
    const found = pieces(samples)
    expect(found.at(0)?.start).toBe(0)
    expect(found.at(-1)?.end).toBe(samples.length)
    for (const [index, { start, end }] of found.entries()) {
      expect(end - start).toBeWithin(1, PIECE_SAMPLES_MAX + 1)
      expect(start).toBe(found[index - 1]?.end ?? 0)
    }
    expect((found[0]?.end ?? 0) / RATE).toBeWithin(24, 24.2)
  })

  test('spans of a voice detector may touch, overlap and exceed the recording', () => {
    const samples = sound([4, LOUD])
    const spans = [
      { start: 0, end: RATE },
      { start: RATE - 100, end: 2 * RATE },
      { start: 2 * RATE, end: 9 * RATE },
    ]
    expect(toPieces(spans, samples)).toEqual([{ start: 0, end: samples.length }])
    expect(toPieces([], samples)).toEqual([])
  })
})

test.each([
  [[], ''],
  [['', ' '], ''],
  [[' 你好。', '今天 '], '你好。今天'],
  [['hello', 'world.', 'Yes'], 'hello world. Yes'],
  [['打开', 'Wi-Fi', '吧'], '打开Wi-Fi吧'],
  [['a\nb', 'c'], 'a b c'],
])('texts of segments %j become %j', (texts, whole) => {
  expect(joinTexts(texts)).toBe(whole)
})
