import { marked, type Token, type Tokens } from 'marked'

export interface GuidePart {
  /** Null for the text before the first heading. */
  readonly title: string | null
  /** Link anchor, the same in both languages: `## Title {#id}`. */
  readonly id: string
  readonly tokens: readonly Token[]
}

const HEADING = /^(.*?)\s*\{#([a-z0-9-]+)\}$/

/** Splits a page of the manual at its second-level headings. */
export function partsOf(markdown: string): GuidePart[] {
  const parts: { title: string | null; id: string; tokens: Token[] }[] = []
  for (const token of marked.lexer(markdown)) {
    const heading = token.type === 'heading' && token.depth === 2
    if (heading) {
      const [, title, id] = HEADING.exec(token.text) ?? [null, token.text, `part-${parts.length}`]
      parts.push({ title, id, tokens: [] })
      continue
    }
    if (parts.length === 0) parts.push({ title: null, id: 'top', tokens: [] })
    parts.at(-1)?.tokens.push(token)
  }
  return parts
}

/** The drawing that is a whole paragraph; replies cannot show one (features/markdown). */
export function drawingOf(token: Token): Tokens.Image | null {
  const [only, ...others] = token.type === 'paragraph' ? (token as Tokens.Paragraph).tokens : []
  if (only?.type !== 'image' || others.length > 0) return null
  return only.href.startsWith('data:image/svg+xml,') ? (only as Tokens.Image) : null
}

/** The file name of a code block, from ```` ```python file=name.py ````. */
export const fileOf = (token: Token): string | null =>
  token.type === 'code'
    ? (/\bfile=(\S+)/.exec((token as Tokens.Code).lang ?? '')?.[1] ?? null)
    : null
