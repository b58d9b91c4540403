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
  /** End of the open part. */
  readonly readTo: number
  /** The text after it, which was not parsed yet. */
  readonly rest: string
}

export const NO_BLOCKS: Blocks = { settled: [], open: [], openFrom: 0, readTo: 0, rest: '' }

/** A list may continue after a blank line, so the last few blocks stay open. */
const OPEN_BLOCKS = 4

/** A longer open part is parsed anew only when it has grown by its `GROWTH`th part. */
const OPEN_CHARS = 8_000
const GROWTH = 8

/**
 * The blocks of `text`, which begins with the text that `before` was made from. While `text` is
 * expected to grow, the end of a long block may wait in `rest`: a text that is one block would
 * otherwise be parsed whole for each piece.
 */
export function grow(before: Blocks, text: string, willGrow = false): Blocks {
  const size = text.length - before.openFrom
  const read = before.readTo - before.openFrom
  if (willGrow && size > OPEN_CHARS && size < read + read / GROWTH) {
    return { ...before, rest: text.slice(before.readTo) }
  }
  const tokens = lex(text.slice(before.openFrom))
  const keep = Math.max(0, tokens.length - OPEN_BLOCKS)
  // A definition such as `[1]: url` affects the whole text, so no block settles.
  const holds = tokens.some(({ type }) => type === 'def')
  const done = holds ? [] : tokens.slice(0, keep)
  return {
    settled: done.length === 0 ? before.settled : [...before.settled, ...done],
    open: tokens.slice(done.length),
    openFrom: done.reduce((from, { raw }) => from + raw.length, before.openFrom),
    readTo: text.length,
    rest: '',
  }
}

/** Reads a text that grows; another text starts over. */
export function createReader() {
  let last = ''
  let blocks = NO_BLOCKS
  return (text: string, willGrow: boolean): Blocks => {
    if (text === last && (willGrow || blocks.rest === '')) return blocks
    blocks = grow(text.startsWith(last) ? blocks : NO_BLOCKS, text, willGrow)
    last = text
    return blocks
  }
}
