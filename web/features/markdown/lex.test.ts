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
