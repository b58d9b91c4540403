import { expect, test } from 'bun:test'
import { plainOf } from './plain.ts'

test.each([
  ['# Returns\n\n## Within **14 days** ##\n', 'Returns\n\nWithin 14 days\n'],
  [
    'See [the form](https://a.example/b_(c) "Form") and ![a lamp](lamp.png).',
    'See the form and a lamp.',
  ],
  ['Run `npm start` **now**.\n```sh\nnpm start\n```\nDone', 'Run npm start now.\nnpm start\nDone'],
  ['| Day | Open |\n|-----|:----:|\n| Mon | 9–17 |', '| Day | Open |\n| Mon | 9–17 |'],
])('a passage is read without its marks: %j', (text, plain) => {
  expect(plainOf(text)).toBe(plain)
})

test.each([
  'Rule #3: 2 ** 3 and a*b*c stay, a_b_c, too.',
  '- one\n- two\n\n1. three\n> said',
  'An array a[1](x y), `one tick, ** two stars',
  'snake__case, __init__, 2**3**4 and #hashtag\n------\n\tindented',
])('what may mean something else stays: %j', (text) => {
  expect(plainOf(text)).toBe(text)
})
