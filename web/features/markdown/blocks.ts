import type { Token } from 'marked'
import { lex } from './lex.ts'

/**
 * Splits a growing text into blocks incrementally: a block is settled once enough blocks follow it,
 * and only the text after the settled blocks is parsed again.
 */
export interface Blocks {
  readonly settled: readonly Token[]
  readonly open: readonly Token[]
  /** Start of the open part in the text. */
  readonly openFrom: number
}

export const NO_BLOCKS: Blocks = { settled: [], open: [], openFrom: 0 }

/** A list may continue after a blank line, so the last few blocks stay open. */
const OPEN_BLOCKS = 4

/** The blocks of `text`, which begins with the text that `before` was made from. */
export function grow(before: Blocks, text: string): Blocks {
  const tokens = lex(text.slice(before.openFrom))
  const keep = Math.max(0, tokens.length - OPEN_BLOCKS)
  // A definition such as `[1]: url` affects the whole text, so no block settles.
  if (tokens.some(({ type }) => type === 'def')) return { ...before, open: tokens }
  const done = tokens.slice(0, keep)
  const read = done.reduce((sum, { raw }) => sum + raw.length, 0)
  return {
    settled: done.length === 0 ? before.settled : [...before.settled, ...done],
    open: tokens.slice(keep),
    openFrom: before.openFrom + read,
  }
}
