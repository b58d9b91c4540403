import { findBoundaries, HEADING, isHeading, toPoints } from './boundaries.ts'

export interface Heading {
  /** In UTF-16 units. */
  readonly start: number
  /** 1 for a heading that all others stand under. */
  readonly level: number
  /** Without marks; of an article, which goes on in the same line, only its number. */
  readonly text: string
}

const OPENING = /^ {0,3}#{1,6}\s+/
const NUMBERED = /^\s*(第.+?([章节条篇部]))/
const LEVELS = '篇章节条'

/** The headings of a text in order, where `chunk` cuts it; not those of code blocks. */
export function headingsOf(text: string): Heading[] {
  const points = toPoints(text)
  const { strength } = findBoundaries(points, 0)
  const headings: Heading[] = []
  for (let at = 0; at < points.length; at++) {
    const start = points.offsets[at] as number
    if (strength[at] !== HEADING && (at > 0 || !isHeading(text))) continue
    const end = text.indexOf('\n', start)
    headings.push({ start, ...read(text.slice(start, end < 0 ? text.length : end)) })
  }
  return headings
}

function read(line: string): Omit<Heading, 'start'> {
  const [, mark = '', kind = ''] = NUMBERED.exec(line) ?? []
  const level = kind === '部' ? 1 : LEVELS.indexOf(kind) + 1
  if (kind) return { level, text: kind === '条' ? mark : line.trim() }
  const depth = /#{1,6}/.exec(line)?.[0].length ?? 1
  return { level: depth, text: withoutMarks(line) }
}

/** By hand, because a pattern for the closing marks takes quadratic time on mixed blanks. */
function withoutMarks(line: string): string {
  const text = line.replace(OPENING, '').trim()
  let end = text.length
  while (text[end - 1] === '#') end--
  const unmarked = text.slice(0, end)
  // Hashes close a heading only behind a blank: not those of C#.
  return /\s/.test(unmarked.at(-1) ?? '') ? unmarked.trimEnd() : text
}
