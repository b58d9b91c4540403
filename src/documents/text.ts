import { ParseFailure } from '../channels/ports/parser.ts'
import { DOCUMENT_CHARS_MAX } from '../core/limits/machine.ts'
import { textEncoding } from '../core/text-encoding.ts'
import type { Piece } from './blocks.ts'

/** A text file. Undecodable bytes become U+FFFD. */
export function decode(bytes: Uint8Array): string {
  const label = textEncoding(bytes) ?? 'utf-8'
  const text = new TextDecoder(label as Bun.Encoding).decode(bytes)
  if (text.length > 2 * DOCUMENT_CHARS_MAX) throw new ParseFailure('too_long')
  return text
}

/** Such as `第三章 维修`; a clause that begins like one goes on for longer. */
const CHAPTER = /^\s*(第[\d一二三四五六七八九十百千零〇两]+[章节条篇部](?:\s.{0,40})?)$/

/** The paragraphs of plain text, which blank lines and chapter headings divide. */
export const readText = (text: string): Generator<Piece> =>
  paragraphs(text, (line) => CHAPTER.exec(line)?.[1] ?? null)

/** The paragraphs of Markdown, as they are. */
export function readMarkdown(text: string): Generator<Piece> {
  let fence: string | null = null
  return paragraphs(text, (line) => {
    const [, mark = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (fence === null && mark !== '') fence = mark
    else if (fence !== null && mark.startsWith(fence)) fence = null
    return fence === null ? (/^ {0,3}#{1,6}\s+(.+?)[\s#]*$/.exec(line)?.[1] ?? null) : null
  })
}

const HEADING_LINE_MAX = 500

/** `headingIn` gives the words of a line that is a heading. */
function* paragraphs(text: string, headingIn: (line: string) => string | null): Generator<Piece> {
  let heading: string | null = null
  let lines: string[] = []
  for (const line of text.split(/\r\n?|\n/)) {
    const found = line.length > HEADING_LINE_MAX ? null : headingIn(line)
    const ends = found !== null || line.trim() === ''
    if (ends && lines.length > 0) {
      yield { text: lines.join('\n'), heading }
      lines = []
    }
    heading = found ?? heading
    if (line.trim() !== '') lines.push(line)
  }
  if (lines.length > 0) yield { text: lines.join('\n'), heading }
}
