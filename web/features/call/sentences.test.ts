import { expect, test } from 'bun:test'
import { createSentences } from './sentences.ts'

/** What is said of an answer that arrives in pieces of `size` characters. */
function spoken(answer: string, size: number): string[] {
  const sentences = createSentences()
  const said: string[] = []
  for (let end = size; end < answer.length; end += size) {
    said.push(...sentences.push(answer.slice(0, end), false).said)
  }
  return [...said, ...sentences.push(answer, true).said]
}

const ANSWER = [
  '# Weather',
  'It is **sunny**. At 3.5 km up it is cold! See [1].',
  '```js',
  'const a = "not. spoken. "',
  '```',
  '今天是晴天。明天呢？',
  '- last words',
].join('\n')

test.each([1, 3, 7, 1_000])('an answer in pieces of %d is said once, without its code', (size) => {
  expect(spoken(ANSWER, size)).toEqual([
    'Weather',
    'It is sunny.',
    'At 3.5 km up it is cold!',
    'See .',
    '今天是晴天。',
    '明天呢？',
    'last words',
  ])
})

test('a sentence is said as soon as it is complete', () => {
  const sentences = createSentences()
  expect(sentences.push('One. Tw', false).said).toEqual(['One.'])
  expect(sentences.push('One. Two. ', false).said).toEqual(['Two.'])
  expect(sentences.push('One. Two. ', true).said).toEqual([])
})

test('an endless sentence is cut at a clause', () => {
  const clause = 'and then it went on and on, '
  expect(spoken(clause.repeat(20), 10).length).toBeGreaterThan(2)
})

test('an answer that another channel begins anew is said from its beginning', () => {
  const sentences = createSentences()
  sentences.push('The first said this. And', false)
  expect(sentences.push('', false)).toEqual({ startedOver: true, said: [] })
  expect(sentences.push('Another says that. ', false).said).toEqual(['Another says that.'])
})
