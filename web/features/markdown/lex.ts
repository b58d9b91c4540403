import { Lexer, Marked, type Token, Tokenizer } from 'marked'
import { mathTokens } from './math-tokens.ts'

/** A longer paragraph has no line below that makes it a heading. */
const HEADING_CHARS_MAX = 1_000

/**
 * Looks no further for the line that makes a paragraph a heading: marked reads to the end of the
 * paragraph, and does so again wherever a formula interrupts it.
 */
class ShortHeadings extends Tokenizer {
  override lheading(text: string) {
    const near = text.slice(0, HEADING_CHARS_MAX)
    const lines = near.length < text.length ? near.slice(0, near.lastIndexOf('\n') + 1) : text
    return lines === '' ? undefined : super.lheading(lines)
  }
}

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
    const { defaults } = new Marked({ extensions: mathTokens() })
    const tokens = new Lexer({ ...defaults, tokenizer: new ShortHeadings() }).lex(text)
    return nestsDeeper(tokens, DEPTH_MAX) ? asCode(text) : tokens
  } catch (error) {
    // The recursion of marked overflowed the stack on levels that open over many lines.
    if (error instanceof RangeError) return asCode(text)
    throw error
  }
}
