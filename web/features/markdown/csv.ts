import type { Token, Tokens } from 'marked'

/** What a cell says, without its marks. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return wordsOf(token.tokens)
      return 'text' in token ? String(token.text) : token.raw
    })
    .join('')
}

const quoted = (text: string): string =>
  /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** A table as RFC 4180 says, but with line feeds alone. */
export const toCsv = ({ header, rows }: Tokens.Table): string =>
  [header, ...rows]
    .map((row) =>
      row
        .map(({ tokens }) =>
          wordsOf(tokens).replace(/&(?:amp|lt|gt|quot|#39);/g, (e) => ENTITIES[e] ?? e),
        )
        .map(quoted)
        .join(','),
    )
    .join('\n')
