import type { Token, Tokens } from 'marked'
import { isBreak, plain } from './plain.ts'

/** What a cell says, without its marks. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return wordsOf(token.tokens)
      if (token.type === 'html' && isBreak(token.raw)) return '\n'
      const text = 'text' in token ? String(token.text) : token.raw
      return token.type === 'codespan' ? text : plain(text)
    })
    .join('')
}

const quoted = (text: string): string =>
  /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** A table as RFC 4180 says, but with line feeds alone. */
export const toCsv = ({ header, rows }: Tokens.Table): string =>
  [header, ...rows]
    .map((row) => row.map(({ tokens }) => quoted(wordsOf(tokens))).join(','))
    .join('\n')
