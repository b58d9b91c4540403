import { expect, test } from 'bun:test'
import { marked, type Tokens } from 'marked'
import { toCsv } from './csv.ts'
import { endingOf } from './download.ts'

test('a table becomes comma-separated values, without its marks', () => {
  const [table] = marked.lexer(
    '| Name | Price |\n|---|---|\n| **Shoe**, red | 5 & 6 |\n| say "hi" | `<b>` |',
  )
  expect(toCsv(table as Tokens.Table)).toBe('Name,Price\n"Shoe, red",5 & 6\n"say ""hi""",<b>')
})

test('a cell of a table keeps its lines, and its code as it was written', () => {
  const [table] = marked.lexer('| a |\n|---|\n| one<br>two |\n| `&lt;` &lt; |')
  expect(toCsv(table as Tokens.Table)).toBe('a\n"one\ntwo"\n&lt; <')
})

test.each([
  ['python', 'py'],
  ['TypeScript', 'ts'],
  ['go', 'go'],
  ['', 'txt'],
  ['../../etc', 'txt'],
])('code in %p is downloaded as a file that ends in %p', (language, ending) => {
  expect(endingOf(language)).toBe(ending)
})
