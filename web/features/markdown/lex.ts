import { Marked, type Token } from 'marked'
import { MATH } from './math-tokens.ts'

const markdown = new Marked({ extensions: MATH })

/** Maximum nesting of quotes, lists and emphasis. */
const DEPTH_MAX = 24

/** Quote and list markers at the start of a line; each opens one level. */
const MARKS = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm
const MARK = /[>*+-]|\d+[.)]/g

/** Whether one line alone opens more levels than `DEPTH_MAX`. */
function opensTooDeep(text: string): boolean {
  return [...text.matchAll(MARKS)].some(
    ([marks]) => marks.length > DEPTH_MAX && (marks.match(MARK)?.length ?? 0) > DEPTH_MAX,
  )
}

/** Whether tokens nest deeper than `depthMax`; looks no deeper than that itself. */
function nestsDeeper(tokens: readonly Token[], depthMax: number): boolean {
  return tokens.some((token) => {
    const inner = [...('tokens' in token ? (token.tokens ?? []) : [])]
    if (token.type === 'list') for (const item of token.items) inner.push(...item.tokens)
    if (inner.length === 0) return false
    return depthMax === 0 || nestsDeeper(inner, depthMax - 1)
  })
}

const asCode = (text: string): Token[] => [{ type: 'code', raw: text, text }]

/**
 * Parses Markdown to tokens. `marked` and React recurse for each level, so 5,000 nested quotes in
 * 10 KB would overflow the stack: a text that nests deeper than `DEPTH_MAX` becomes one code block.
 */
export function lex(text: string): Token[] {
  if (opensTooDeep(text)) return asCode(text)
  try {
    const tokens = markdown.lexer(text)
    return nestsDeeper(tokens, DEPTH_MAX) ? asCode(text) : tokens
  } catch (error) {
    // The recursion of marked overflowed the stack on levels that open over many lines.
    if (error instanceof RangeError) return asCode(text)
    throw error
  }
}
