import { describe, expect, test } from 'bun:test'
import { marked } from 'marked'
import { type Blocks, grow, NO_BLOCKS } from './blocks.ts'

const LONG = Array.from(
  { length: 400 },
  (_, part) => `## Part ${part}

Some words with **weight** and \`code\`, and a [link](https://example.com/${part}).

- one
- two

  three, in the same list

\`\`\`ts
const part = ${part}

const blank = 'line'
\`\`\`

| a | b |
| - | - |
| ${part} | 2 |
`,
).join('\n')

/** Feeds a text in pieces, as a stream does. */
function feed(
  text: string,
  size: number,
  each: (blocks: Blocks, soFar: string) => void = () => {},
) {
  let blocks = NO_BLOCKS
  for (let end = size; end < text.length + size; end += size) {
    const soFar = text.slice(0, end)
    blocks = grow(blocks, soFar)
    each(blocks, soFar)
  }
  return blocks
}

const shape = (tokens: Blocks['settled']) => tokens.map(({ type, raw }) => [type, raw])

describe('a growing text', () => {
  test('a growing text has the same Markdown blocks as the complete text', () => {
    for (const size of [1, 7, 64]) {
      const sample = LONG.slice(0, 3_000)
      const { settled, open } = feed(sample, size)
      expect(shape([...settled, ...open])).toEqual(shape(marked.lexer(sample)))
    }
  })

  test('a growing text is parsed once, whatever its length', () => {
    let openMost = 0
    feed(LONG, 20, ({ openFrom }, soFar) => {
      openMost = Math.max(openMost, soFar.length - openFrom)
    })
    expect(LONG.length).toBeGreaterThan(60_000)
    expect(openMost).toBeLessThan(600)
  })

  test('settled blocks stay the same objects and are not drawn again', () => {
    let before: Blocks['settled'] = []
    feed(LONG.slice(0, 5_000), 30, ({ settled }) => {
      for (const [index, token] of before.entries()) expect(settled[index]).toBe(token)
      before = settled
    })
  })

  test('a link definition at the end of a growing text still counts', () => {
    const text =
      'See [there][1].\n\nMore.\n\nMore.\n\nMore.\n\nMore.\n\nMore.\n\n[1]: https://example.com'
    const { settled, open } = feed(text, 5)
    expect([...settled, ...open].map(({ raw }) => raw).join('')).toBe(text)
  })
})
