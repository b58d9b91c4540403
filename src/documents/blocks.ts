import { DOCUMENT_CHARS_MAX, DOCUMENT_PAGES_MAX } from '../core/limits/machine.ts'
import { firstChars } from '../core/text.ts'
import { type DocumentBlock, ParseFailure } from '../upstream/ports/parser.ts'

/** A paragraph, table or slide. */
export interface Piece {
  readonly text: string
  readonly page?: number | null
  readonly heading?: string | null
}

/** The content of a file, as its reader returns it. */
export interface Reading {
  readonly title: string | null
  readonly pages: number | null
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>
  /** Numbers of the pages that are pictures; absent where nobody looks for them. */
  readonly scans?: readonly number[]
}

const BLOCK_CHARS_MAX = 4_000
const HEADING_CHARS_MAX = 200

/**
 * Joins the pieces of one page and heading to blocks, and cuts long ones. Throws `ParseFailure`:
 * `too_long` beyond the limits of a document, `no_text` at the end when hardly any character was
 * readable, for example with fonts that do not map their glyphs to characters; not where text
 * `mayBeMissing`.
 */
export async function* toBlocks(
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
  mayBeMissing = false,
): AsyncGenerator<DocumentBlock> {
  const count = createCount()
  let waiting: DocumentBlock | null = null
  for await (const piece of pieces) {
    const page = piece.page ?? null
    if ((page ?? 0) > DOCUMENT_PAGES_MAX) throw new ParseFailure('too_long')
    const heading = headingOf(piece.heading)
    count.see(piece.text)
    for (const text of cut(clean(piece.text))) {
      count.add(text)
      const fits =
        waiting !== null &&
        waiting.page === page &&
        waiting.heading === heading &&
        waiting.text.length + text.length < BLOCK_CHARS_MAX
      if (waiting && !fits) yield waiting
      const joined: string = waiting && fits ? `${waiting.text}\n\n${text}` : text
      waiting = { type: 'block', text: joined, page, heading }
    }
  }
  if (waiting) yield waiting
  if (!mayBeMissing) count.end()
}

const headingOf = (heading: string | null | undefined) =>
  firstChars(clean(heading ?? '').replace(/\s+/g, ' '), HEADING_CHARS_MAX).trim() || null

/** Control characters other than tab and line feed; lone surrogates have no UTF-8 form. */
function clean(text: string): string {
  const lines = text.replace(/\r\n?|[\f\v\u2028\u2029]/g, '\n').toWellFormed()
  return lines
    .replace(/[^\P{Cc}\t\n]|[\ufeff\u00ad]/gu, '')
    .replace(/^\n+/, '')
    .trimEnd()
}

/** Cuts at the end of a line, sentence or word where there is one in the second half. */
function* cut(text: string): Generator<string> {
  let rest = text
  while (rest.length > BLOCK_CHARS_MAX) {
    const head = rest.slice(0, BLOCK_CHARS_MAX)
    const ends = [/^.*\n/s, /^.*(?:[。！？；]|[.!?;]\s)/s, /^.*\s/s]
    const whole = ends
      .map((end) => end.exec(head)?.[0].length ?? 0)
      .find((length) => length > BLOCK_CHARS_MAX / 2)
    const at = whole ?? (/[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length)
    const part = rest.slice(0, at).trimEnd()
    if (part !== '') yield part
    rest = rest.slice(at).replace(/^\n+/, '')
  }
  if (rest.trim() !== '') yield rest
}

/** Control and private-use characters, and U+FFFD. */
const UNREADABLE = /[^\P{Cc}\s]|[\ufffd\ue000-\uf8ff\u{f0000}-\u{10ffff}]/gu

function createCount() {
  let kept = 0
  let seen = 0
  let unreadable = 0
  return {
    see(text: string): void {
      seen += text.replace(/\s+/g, '').length
      unreadable += text.match(UNREADABLE)?.length ?? 0
    },
    add(text: string): void {
      kept += text.length
      if (kept > DOCUMENT_CHARS_MAX) throw new ParseFailure('too_long')
    },
    end(): void {
      if (unreadable >= seen / 2) throw new ParseFailure('no_text')
    },
  }
}
