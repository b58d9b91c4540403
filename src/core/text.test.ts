import { expect, test } from 'bun:test'
import { createHanShare } from './text.ts'

for (const [text, share] of [
  ['保修期多久？', 1],
  ['How long is the warranty?', 0],
  ['第 36-1 页', 1],
  ['36-1', 0.5],
  ['', 0.5],
  ['用NAS备份', 3 / 5],
  ["It's here 了", 1 / 5],
  ["it''s", 0],
  ["字 o'", 1 / 3],
  ['字\ud800', 1],
  ['𠮷野家', 1],
  ['Où étés', 0],
] as const) {
  test(`the share of Chinese is measured in “${text}”`, () => {
    expect(createHanShare()(text)).toBeCloseTo(share, 6)
  })
}
