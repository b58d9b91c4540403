import { describe, expect, test } from 'bun:test'
import { marked } from 'marked'
import { type Blocks, createReader, grow, NO_BLOCKS } from './blocks.ts'
import { lex } from './lex.ts'

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

/** Characters that come at a time, where a text is long. */
const PIECE = 28

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

  test.each([
    ['spaces and a word', `${' '.repeat(80_000)}x`],
    ['one paragraph', 'word '.repeat(16_000)],
    ['one list', '- item of a list\n'.repeat(4_000)],
    [
      'text with a link definition',
      `[1]: https://example.com\n\n${'Some words.\n\n'.repeat(5_000)}`,
    ],
  ])('a growing text that is one block is not parsed for each piece: %s', (_name, text) => {
    const read = createReader()
    let parsed = 0
    let open: Blocks['open'] = []
    for (let end = PIECE; end < text.length; end += PIECE) {
      const blocks = read(text.slice(0, end), true)
      if (blocks.open !== open) parsed += blocks.readTo - blocks.openFrom
      open = blocks.open
      if (end % 7_000 !== 0) continue
      const shown = [...blocks.settled, ...open].map(({ raw }) => raw).join('') + blocks.rest
      // marked ends the text of some blocks without their last blank line.
      expect(shown.length).toBeGreaterThan(end - 9)
    }
    // A text of 8,000 characters is parsed with each piece.
    expect(parsed).toBeLessThan(8_000 ** 2 / PIECE + 10 * text.length)
    const whole = read(text, false)
    expect(whole.rest).toBe('')
    expect(shape([...whole.settled, ...whole.open])).toEqual(shape(lex(text)))
  })

  test('a link definition at the end of a growing text still counts', () => {
    const text =
      'See [there][1].\n\nMore.\n\nMore.\n\nMore.\n\nMore.\n\nMore.\n\n[1]: https://example.com'
    const { settled, open } = feed(text, 5)
    expect([...settled, ...open].map(({ raw }) => raw).join('')).toBe(text)
  })
})
