import { expect, test } from 'bun:test'
import { spokenText } from './spoken.ts'

test('a reply is read aloud without marks, code and numbers of sources', () => {
  const reply =
    '## Returns\n\n- **14 days** [1], see [the page](https://x.example)\n\n```js\na\n```'
  expect(spokenText(reply).split(/\s+/)).toEqual('Returns 14 days , see the page'.split(' '))
})
