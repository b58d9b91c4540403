import { expect, test } from 'bun:test'
import { heapBytesOf } from '../../../test/support/heap.ts'
import { TextInPieces } from '../../core/text.ts'
import { ThinkFilter } from './answer.ts'
import { createToolCalls } from './tool-calls.ts'

const COUNT = 300_000
/** As many strings of their own as a stream of JSON has. */
const piece = (n: number) =>
  JSON.parse(`"${String.fromCharCode(0x4e00 + (n % 5_000))}字"`) as string

test('a text in small pieces is rebuilt unchanged', () => {
  const text = new TextInPieces()
  let expected = ''
  for (let n = 0; n < 1_000; n++) {
    text.add(piece(n))
    expected += piece(n)
    if (n % 300 === 0) expect(text.toString()).toBe(expected)
  }
  text.add('')
  expect(text.length).toBe(expected.length)
  expect(text.toString()).toBe(expected)
})

test.each([
  [
    'the text of an answer',
    () => {
      const text = new TextInPieces()
      for (let n = 0; n < COUNT; n++) text.add(piece(n))
      return text
    },
  ],
  [
    'a think block',
    () => {
      const filter = new ThinkFilter()
      filter.push('<think>')
      for (let n = 0; n < COUNT; n++) filter.push(piece(n))
      return filter
    },
  ],
  [
    'arguments of a tool call',
    () => {
      const calls = createToolCalls()
      for (let n = 0; n < COUNT; n++) {
        calls.add({ index: 0, id: 'a', function: { name: 'f', arguments: piece(n) } })
      }
      return calls
    },
  ],
])('in small pieces, %s takes little more memory than its characters', (_, make) => {
  const { bytes, kept } = heapBytesOf<unknown>(make)
  expect(bytes).toBeLessThan(3 * 2 * 2 * COUNT)
  expect(kept).toBeDefined()
})
