import { describe, expect, test } from 'bun:test'
import { charCount } from '../core/text.ts'
import { splitSpeech } from './split.ts'

const STORY =
  '从前有一座山，山里有一座庙。庙里有一个老和尚，他在给小和尚讲故事！讲的是什么呢？'.repeat(40)

test.each(['你好。', '', 'Hello there. How are you?', '短句。'.repeat(60)])(
  'a short text stays whole',
  (text) => {
    expect([...splitSpeech(text, 4_096)]).toEqual([text])
  },
)

describe.each([
  ['Chinese', STORY],
  [
    'English',
    'The quick brown fox jumps over the lazy dog. It costs 3.14 dollars at example.com! '.repeat(
      30,
    ),
  ],
  ['one long sentence', '天气很好，'.repeat(400)],
  ['no sign at all', '好'.repeat(2_000)],
  ['words without signs', 'word '.repeat(900)],
  ['pairs of code units', '𠮷'.repeat(1_500)],
  ['line breaks', '第一行\n第二行\n'.repeat(200)],
  ['only signs', '。'.repeat(900)],
])('%s', (_name, text) => {
  test.each([4_096, 1_000, 50])(
    'a text is cut into pieces under %d characters and loses nothing',
    (most) => {
      const pieces = [...splitSpeech(text, most)]
      expect(pieces.join('')).toBe(text)
      for (const piece of pieces) expect(charCount(piece)).toBeLessThanOrEqual(most)
      expect(pieces.length).toBeGreaterThan(1)
    },
  )
})

test('the first piece of speech is short, and pieces end with sentences', () => {
  const [first = '', ...rest] = splitSpeech(STORY, 4_096)
  expect(charCount(first)).toBeLessThanOrEqual(80)
  for (const piece of [first, ...rest]) expect(piece).toMatch(/[。！？]$/)
})

test('the point in a number does not end a piece of speech', () => {
  const text = `${'a'.repeat(70)} costs 3.14 and ends. ${'b'.repeat(300)}`
  expect(splitSpeech(text, 4_096).next().value).toEndWith('ends. ')
})
