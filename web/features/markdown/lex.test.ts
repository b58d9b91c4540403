import { expect, test } from 'bun:test'
import { marked } from 'marked'
import { lex } from './lex.ts'

const indented = (levels: number) =>
  Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}- level ${level}`).join('\n')

test.each([
  ['quotes in one line', '> '.repeat(5_000)],
  ['lists in one line', '- '.repeat(3_000)],
  ['numbered lists in one line', '1. '.repeat(3_000)],
  ['quotes and lists in turn', '> - '.repeat(2_000)],
  ['lists over many lines', indented(60)],
  ['emphasis in emphasis', `${'*a **b '.repeat(400)}x${' c** d*'.repeat(400)}`],
  ['brackets of links', `${'['.repeat(2_000)}x${']'.repeat(2_000)}`],
])('%s, nested deeper than a person reads, become one block of text', (name, text) => {
  const tokens = lex(text)
  if (name !== 'brackets of links') expect(tokens.map(({ type }) => type)).toEqual(['code'])
  expect(tokens.map(({ raw }) => raw).join('')).toBe(text)
})

test('Markdown nested as people write it keeps its form', () => {
  const text = `> > > quoted\n\n${indented(8)}\n\n**bold _and *more* of_ it**`
  expect(lex(text)).toEqual([...marked.lexer(text)])
})

test.each([
  ['Energy is $E = m\\,c^2$ here', ['E = m\\,c^2']],
  ['$$\\int_0^1 x\\,dx$$', ['\\int_0^1 x\\,dx']],
  ['Both \\(a_1\\) and \\[b_2\\]', ['a_1', 'b_2']],
  ['It costs $5 and $6, or $7-$8', []],
  ['`$x$` is code', []],
])('formulas are read before Markdown is: %p', (text, formulas) => {
  const found: string[] = []
  marked.walkTokens(lex(text), (token) => {
    if (token.type === 'math') found.push((token as { text?: string }).text ?? '')
  })
  expect(found).toEqual(formulas)
})

const formulasOf = (text: string) => {
  const found: string[] = []
  marked.walkTokens(lex(text), (token) => {
    if (token.type === 'math') found.push(token.raw.trim())
  })
  return found
}

test.each([
  ['$$', '$$'],
  ['\\[', '\\]'],
  ['\\(', '\\)'],
  ['$', '$'],
])('a formula between %s and %s has at most 4,000 characters', (open, close) => {
  for (const [size, count] of [
    [4_000, 1],
    [4_002, 0],
  ] as const) {
    expect(formulasOf(`Here: ${open}${'x'.repeat(size)}${close} it is`)).toHaveLength(count)
    expect(formulasOf(`${open}${'x'.repeat(size)}${close}`)).toHaveLength(count)
  }
})

test.each(['$$x', '\\[x', '\\(x'])(
  'after 200 openings %s without an end no more are read',
  (opening) => {
    const after = '\n\nSo \\(y\\)\n'
    // Too far from the end of the formula behind them.
    const away = `\n\n${'word '.repeat(1_000)}\n\n`
    const openings = (count: number) => `${opening}\n\n`.repeat(count) + away + after
    expect(formulasOf(openings(60))).toEqual(['\\(y\\)'])
    expect(formulasOf(openings(200))).toEqual([])
  },
)

test('the line below a heading is looked for in the first thousand characters', () => {
  const types = (text: string) => lex(text).map(({ type }) => type)
  expect(types('Title\n=====\n\ntext')).toEqual(
    marked.lexer('Title\n=====\n\ntext').map(({ type }) => type),
  )
  expect(types(`${'word\n'.repeat(150)}-----`)).toEqual(['heading'])
  expect(types(`${'word\n'.repeat(300)}=====`)).toEqual(['paragraph'])
})
