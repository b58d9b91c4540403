import { describe, expect, test } from 'bun:test'
import { ThinkFilter } from './think-block.ts'

const CASES: readonly (readonly [name: string, content: string, answer: string])[] = [
  ['no block', 'plain answer', 'plain answer'],
  ['a leading block', '<think>hm</think>answer', 'answer'],
  ['an empty block and blank space', '\n <think>\n\n</think>\n\n answer \n', 'answer \n'],
  ['a block further on', 'so <think>hm</think> answer', 'so <think>hm</think> answer'],
  ['a second block', '<think>a</think>b<think>c</think>', 'b<think>c</think>'],
  ['a block that never closes', ' <think>hm, an answer', ' <think>hm, an answer'],
  ['the beginning of a tag', '<thi', '<thi'],
  ['another tag', '<thinking>hm</thinking>', '<thinking>hm</thinking>'],
  ['blank space only', ' \n', ' \n'],
  ['something like the end inside', '<think>a </thin b</think>c', 'c'],
]

describe('a leading think block', () => {
  for (const [name, content, answer] of CASES) {
    test(name, () => {
      for (const step of [100, 1, 2, 3, 5]) {
        const filter = new ThinkFilter()
        let out = ''
        for (let at = 0; at < content.length; at += step) {
          out += filter.push(content.slice(at, at + step))
        }
        expect(out + filter.end()).toBe(answer)
      }
    })
  }

  test('much blank space in small pieces takes no longer than other text', () => {
    const filter = new ThinkFilter()
    const pieces = 100_000
    for (let i = 0; i < pieces; i++) filter.push(' ')
    expect(filter.push('x')).toHaveLength(pieces + 1)
  })

  test('the first piece of an ordinary answer is not held back', () => {
    const filter = new ThinkFilter()
    expect([filter.push('你'), filter.push('好')]).toEqual(['你', '好'])
  })
})
