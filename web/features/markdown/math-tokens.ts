import type { TokenizerAndRendererExtension, Tokens } from 'marked'

export interface MathToken extends Tokens.Generic {
  readonly type: 'math'
  readonly text: string
  /** Whether it is on a line of its own. */
  readonly display: boolean
}

const BLOCK = /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n+|$)/
const DISPLAY = /^(?:\$\$([^$]+?)\$\$|\\\[([\s\S]+?)\\\])/
/** By Pandoc's rule, so that "$5 and $6" is not a formula. */
const INLINE = /^(?:\$(?![\s$])((?:\\.|[^\\\n$])*?[^\s\\$])\$(?!\d)|\\\(([\s\S]+?)\\\))/
const BLOCK_START = /\n(?:\$\$|\\\[)/
const INLINE_START = /\$|\\[[(]/

function mathOf(match: RegExpExecArray | null, display: boolean): MathToken | undefined {
  if (!match) return undefined
  return { type: 'math', raw: match[0], text: (match[1] ?? match[2] ?? '').trim(), display }
}

const startsAt = (pattern: RegExp) => (text: string) => {
  const at = text.search(pattern)
  return at < 0 ? undefined : at
}

/** Tokenizes formulas before Markdown interprets `\,` and `_` in them. */
export const MATH: TokenizerAndRendererExtension[] = [
  {
    name: 'mathBlock',
    level: 'block',
    start: startsAt(BLOCK_START),
    tokenizer: (text) => mathOf(BLOCK.exec(text), true),
  },
  {
    name: 'math',
    level: 'inline',
    start: startsAt(INLINE_START),
    tokenizer: (text) => mathOf(DISPLAY.exec(text), true) ?? mathOf(INLINE.exec(text), false),
  },
]
