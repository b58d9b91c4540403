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
