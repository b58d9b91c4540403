import { expect, test } from 'bun:test'
import { spokenText } from './spoken.ts'

const words = (reply: string) => spokenText(reply).split(/\s+/).join(' ')

test('a reply is read aloud without marks, code and numbers of sources', () => {
  const reply =
    '## Returns\n\n- **14 days** [1], see [the page](https://x.example)\n\n```js\na\n```'
  expect(words(reply)).toBe('Returns 14 days , see the page')
  expect(words('| one<br>two<BR/>three |')).toBe('one two three')
  expect(words('| a | b |\n| - | -: |\n| _c_ | 2 |\n\n- [x] done')).toBe('a b c 2 done')
})

test('signs of arithmetic and of names are read aloud', () => {
  expect(words('6*7 = 42, and 8*9 = 72 in tool_name')).toBe('6*7 = 42, and 8*9 = 72 in tool_name')
})
