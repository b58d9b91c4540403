import type { TokenizerAndRendererExtension, Tokens } from 'marked'

export interface MathToken extends Tokens.Generic {
  readonly type: 'math'
  readonly text: string
  /** Whether it is on a line of its own. */
  readonly display: boolean
}

/** A longer formula stays text: it would hold the page for too long. */
const FORMULA_CHARS_MAX = 4_000

/**
 * After so many openings without an end, further `$$`, `\[` and `\(` of the text stay text: the
 * search for each end reads up to `FORMULA_CHARS_MAX` characters.
 */
const UNCLOSED_MAX = 200

const END_OF: Readonly<Record<string, string>> = { $$: '$$', '\\[': '\\]', '\\(': '\\)' }
/** By Pandoc's rule, so that "$5 and $6" is not a formula. */
const DOLLAR = new RegExp(
  String.raw`^\$(?![\s$])((?:\\.|[^\\\n$]){0,${FORMULA_CHARS_MAX}}?[^\s\\$])\$(?!\d)`,
)
const BLOCK_START = /\n(?:\$\$|\\\[)/
const INLINE_START = /\$|\\[[(]/

/** The places of `end` after the opening mark of `text`, as far as a formula may reach. */
function* endsIn(text: string, end: string): Generator<number> {
  const reach = text.slice(0, FORMULA_CHARS_MAX + 2 + end.length)
  // A formula has at least one character.
  for (let at = reach.indexOf(end, 3); at >= 0; at = reach.indexOf(end, at + 1)) yield at
}

const mathOf = (raw: string, text: string, display: boolean): MathToken => ({
  type: 'math',
  raw,
  text: text.trim(),
  display,
})

/** Where the characters of `among` that stand at `from` end. */
function skip(text: string, from: number, among: string): number {
  let at = from
  while (at < text.length && among.includes(text.charAt(at))) at += 1
  return at
}

/** Only line ends may follow a formula that is a block. */
function blockOf(text: string, end: string): MathToken | undefined {
  for (const at of endsIn(text, end)) {
    const blank = skip(text, at + end.length, ' \t')
    const after = skip(text, blank, '\n')
    if (after > blank || after === text.length) {
      return mathOf(text.slice(0, after), text.slice(2, at), true)
    }
  }
  return undefined
}

function inlineOf(text: string, end: string): MathToken | undefined {
  const [at] = endsIn(text, end)
  if (at === undefined) return undefined
  const inner = text.slice(2, at)
  if (end === '$$' && inner.includes('$')) return undefined
  return mathOf(text.slice(0, at + end.length), inner, end !== '\\)')
}

function dollarOf(text: string): MathToken | undefined {
  const match = DOLLAR.exec(text)
  return match ? mathOf(match[0], match[1] ?? '', false) : undefined
}

const startsAt = (pattern: RegExp, text: string) => {
  const at = text.search(pattern)
  return at < 0 ? undefined : at
}

/** For one text: tokenizes formulas before Markdown interprets `\,` and `_` in them. */
export function mathTokens(): TokenizerAndRendererExtension[] {
  let unclosed = 0

  function formula(text: string, read: typeof blockOf, marks: readonly string[]) {
    const mark = text.slice(0, 2)
    const end = marks.includes(mark) ? END_OF[mark] : undefined
    if (end === undefined || unclosed >= UNCLOSED_MAX) return undefined
    const token = read(text, end)
    if (!token) unclosed += 1
    return token
  }

  return [
    {
      name: 'mathBlock',
      level: 'block',
      start: (text) => (unclosed < UNCLOSED_MAX ? startsAt(BLOCK_START, text) : undefined),
      tokenizer: (text) => formula(text, blockOf, ['$$', '\\[']),
    },
    {
      name: 'math',
      level: 'inline',
      start: (text) => startsAt(INLINE_START, text),
      tokenizer: (text) => formula(text, inlineOf, ['$$', '\\[', '\\(']) ?? dollarOf(text),
    },
  ]
}
